package io.radixflow.lab.bench;

import com.sun.management.OperatingSystemMXBean;
import io.radixflow.operators.engine.ChannelId;
import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.engine.ReplyChannel;
import io.radixflow.operators.engine.ReplyProgress;
import io.radixflow.operators.record.FinishReason;
import io.radixflow.tools.cli.common.CliException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;

/** Runs random prompts that share nothing through an engine, for timing. */
final class EngineBench implements ReplyChannel.ReplyVisitor {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private final Engine engine;
  private final int vocabSize;
  private final int promptTokens;
  private final int replyTokens;
  private long attempt;
  private int ended;

  /** The thread that runs the engine, once it has reported progress; 0 before. */
  private volatile long engineThread;

  EngineBench(Engine engine, int vocabSize, int promptTokens, int replyTokens) {
    this.engine = engine;
    this.vocabSize = vocabSize;
    this.promptTokens = promptTokens;
    this.replyTokens = replyTokens;
  }

  /**
   * The average times of an engine step.
   *
   * @param seconds from the first request to the end of the last, over the steps
   * @param hostSeconds that the engine's own thread computed in that time, over the steps
   * @param processSeconds that all threads of the process computed, over the steps
   */
  record StepTime(double seconds, double hostSeconds, double processSeconds) {}

  /** Runs requests, a number of them at once; the host's time is right from the second run on. */
  StepTime run(int requests, int batch, long seed) throws InterruptedException {
    Semaphore ready = new Semaphore(0);
    SplittableRandom random = new SplittableRandom(seed);
    ended = 0;
    Runnable onReady =
        () -> {
          engineThread = Thread.currentThread().getId();
          ready.release();
        };
    try (ReplyChannel channel = engine.openChannel(new ChannelId("bench", 0, attempt++), onReady)) {
      long steps = engine.stats().steps().steps();
      long host = hostNanos();
      long process = PROCESS.getProcessCpuTime();
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
      double hostSeconds = (hostNanos() - host) * 1e-9;
      double processSeconds = (PROCESS.getProcessCpuTime() - process) * 1e-9;
      double count = engine.stats().steps().steps() - steps;
      return new StepTime(seconds / count, hostSeconds / count, processSeconds / count);
    }
  }

  private long hostNanos() {
    return engineThread == 0 ? 0 : THREADS.getThreadCpuTime(engineThread);
  }

  private EngineRequest request(SplittableRandom random) {
    int[] prompt = random.ints(promptTokens, 0, vocabSize).toArray();
    return EngineRequest.builder("bench", () -> prompt, replyTokens).ignoreEndOfTurn(true).build();
  }

  @Override
  public void promptReady(long requestId) {}

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
