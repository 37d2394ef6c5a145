package io.radixflow.lab.bench;

import io.radixflow.operators.engine.ChannelId;
import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.engine.ReplyChannel;
import io.radixflow.operators.engine.ReplyProgress;
import io.radixflow.operators.record.FinishReason;
import io.radixflow.operators.record.Usage;
import io.radixflow.tools.cli.common.CliException;
import java.util.Arrays;
import java.util.concurrent.Semaphore;

/** Times requests to an engine, one after the other. */
public final class TurnTimer implements ReplyChannel.ReplyVisitor {
  private final Engine engine;
  private final Semaphore ready = new Semaphore(0);
  private final ReplyChannel channel;
  private long requests;
  private long tokenNanos;
  private long textNanos;
  private int[] reply;
  private ReplyProgress end;

  public TurnTimer(Engine engine) {
    this.engine = engine;
    channel = engine.openChannel(new ChannelId("bench", 0, 0), ready::release);
  }

  /**
   * A timed reply.
   *
   * @param tokenSeconds to the first token
   * @param textSeconds to the first text, or to the end if there is none
   * @param endSeconds to the end
   * @param reply all its token ids
   */
  public record TimedTurn(
      double tokenSeconds, double textSeconds, double endSeconds, int[] reply, Usage usage) {}

  /** Runs a request to its end. */
  public TimedTurn run(EngineRequest request) throws InterruptedException {
    reply = new int[0];
    tokenNanos = 0;
    textNanos = 0;
    end = null;
    long start = System.nanoTime();
    engine.submit(channel, requests++, request);
    while (end == null) {
      ready.acquire();
      ready.drainPermits();
      channel.drain(this);
    }
    double endSeconds = (System.nanoTime() - start) * 1e-9;
    return new TimedTurn(
        (tokenNanos - start) * 1e-9, (textNanos - start) * 1e-9, endSeconds, reply, end.usage());
  }

  @Override
  public void promptReady(long requestId) {}

  @Override
  public void progress(long requestId, ReplyProgress progress) {
    if (progress.finish() == FinishReason.ERROR || progress.finish() == FinishReason.REJECTED) {
      throw new CliException("the engine refused a request: " + progress.error());
    }
    if (tokenNanos == 0 && progress.tokens().length > 0) {
      tokenNanos = System.nanoTime();
    }
    if (textNanos == 0 && (progress.finish() != null || !progress.text().isEmpty())) {
      textNanos = System.nanoTime();
    }
    int before = reply.length;
    reply = Arrays.copyOf(reply, before + progress.tokens().length);
    System.arraycopy(progress.tokens(), 0, reply, before, progress.tokens().length);
    if (progress.finish() != null) {
      end = progress;
    }
  }
}
