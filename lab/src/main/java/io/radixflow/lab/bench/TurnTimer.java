package io.radixflow.lab.bench;

import io.radixflow.operators.engine.ChannelId;
import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.engine.EngineRequest.PromptSource;
import io.radixflow.operators.engine.ReplyChannel;
import io.radixflow.operators.engine.ReplyProgress;
import io.radixflow.operators.record.FinishReason;
import io.radixflow.tools.cli.common.CliException;
import java.util.Arrays;
import java.util.concurrent.Semaphore;

/** Times turns of a conversation on an engine, one after the other. */
final class TurnTimer implements ReplyChannel.ReplyVisitor {
  private final Engine engine;
  private final Semaphore ready = new Semaphore(0);
  private final ReplyChannel channel;
  private long requests;
  private long firstNanos;
  private int[] reply;
  private ReplyProgress end;

  TurnTimer(Engine engine) {
    this.engine = engine;
    channel = engine.openChannel(new ChannelId("bench", 0, 0), ready::release);
  }

  /**
   * Runs a turn.
   *
   * @param namespace of all pages of the prompt but the public ones
   * @param publicTokens tokens whose pages the prompt shares with those of all other namespaces
   */
  TimedTurn run(String namespace, int[] prompt, int publicTokens, int replyTokens)
      throws InterruptedException {
    reply = new int[0];
    firstNanos = 0;
    end = null;
    EngineRequest request =
        EngineRequest.builder("bench", source(prompt, publicTokens), replyTokens)
            .namespace(namespace)
            .ignoreEndOfTurn(true)
            .build();
    long start = System.nanoTime();
    engine.submit(channel, requests++, request);
    while (end == null) {
      ready.acquire();
      ready.drainPermits();
      channel.drain(this);
    }
    return new TimedTurn((firstNanos - start) * 1e-9, reply, end.usage());
  }

  private static PromptSource source(int[] prompt, int publicTokens) {
    return new PromptSource() {
      @Override
      public int[] ids() {
        return prompt;
      }

      @Override
      public int publicTokens() {
        return publicTokens;
      }
    };
  }

  @Override
  public void promptReady(long requestId) {}

  @Override
  public void progress(long requestId, ReplyProgress progress) {
    if (progress.finish() == FinishReason.ERROR || progress.finish() == FinishReason.REJECTED) {
      throw new CliException("the engine refused a request: " + progress.error());
    }
    if (firstNanos == 0 && progress.tokens().length > 0) {
      firstNanos = System.nanoTime();
    }
    int before = reply.length;
    reply = Arrays.copyOf(reply, before + progress.tokens().length);
    System.arraycopy(progress.tokens(), 0, reply, before, progress.tokens().length);
    if (progress.finish() != null) {
      end = progress;
    }
  }
}
