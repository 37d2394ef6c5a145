package io.radixflow.jobs.cli;

import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.operators.engine.ChannelId;
import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.engine.FinishReason;
import io.radixflow.operators.engine.ReplyChannel;
import io.radixflow.operators.engine.ReplyProgress;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;

/** Runs random prompts that share nothing through an engine, for timing. */
final class EngineBench implements ReplyChannel.ReplyVisitor {
  private final int vocabSize;
  private final int promptTokens;
  private final int replyTokens;
  private long attempt;
  private int ended;

  EngineBench(int vocabSize, int promptTokens, int replyTokens) {
    this.vocabSize = vocabSize;
    this.promptTokens = promptTokens;
    this.replyTokens = replyTokens;
  }

  /** Runs requests, a number of them at once, and returns the time that an engine step took. */
  double secondsPerStep(Engine engine, int requests, int batch, long seed)
      throws InterruptedException {
    Semaphore ready = new Semaphore(0);
    SplittableRandom random = new SplittableRandom(seed);
    ended = 0;
    try (ReplyChannel channel =
        engine.openChannel(new ChannelId("bench", 0, attempt++), ready::release)) {
      long steps = engine.stats().steps();
      long start = System.nanoTime();
      for (int started = 0; ended < requests; ) {
        while (started < requests && started - ended < batch) {
          engine.submit(channel, started++, request(random));
        }
        ready.acquire();
        ready.drainPermits();
        channel.drain(this);
      }
      double seconds = (System.nanoTime() - start) * 1e-9;
      return seconds / (engine.stats().steps() - steps);
    }
  }

  private EngineRequest request(SplittableRandom random) {
    int[] prompt = random.ints(promptTokens, 0, vocabSize).toArray();
    return new EngineRequest(
        "bench", "", () -> prompt, new int[0], SamplingParams.GREEDY, replyTokens, List.of(), true);
  }

  @Override
  public void prompt(long requestId, int[] prompt) {}

  @Override
  public void progress(long requestId, ReplyProgress progress) {
    if (progress.finish() == FinishReason.ERROR || progress.finish() == FinishReason.REJECTED) {
      throw new CliException("the engine refused a request: " + progress.error());
    }
    if (progress.finish() != null) {
      ended++;
    }
  }
}
