package io.radixflow.lab.bench;

import io.radixflow.operators.engine.ChannelId;
import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.engine.ReplyChannel;
import io.radixflow.operators.engine.ReplyProgress;
import io.radixflow.operators.record.FinishReason;
import io.radixflow.tools.cli.common.CliException;
import io.radixflow.tools.cli.common.Samples;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;

/**
 * Replies that run while a long prompt comes in: how far apart their tokens are, and how long the
 * prompt's first token takes. All prompts are random and share nothing.
 */
final class EvenLoad implements ReplyChannel.ReplyVisitor, AutoCloseable {
  private static final int SHORT_PROMPT = 64;
  private final int replyTokens;

  private final Engine engine;
  private final SplittableRandom random;
  private final int vocabSize;
  private final Semaphore ready = new Semaphore(0);
  private final ReplyChannel channel;
  private final long[] lastNanos;
  private long prompts;
  private long firstNanos;
  private Samples gaps = new Samples();

  EvenLoad(Engine engine, int vocabSize, int sessions, int replyTokens, long seed) {
    this.replyTokens = replyTokens;
    this.engine = engine;
    this.vocabSize = vocabSize;
    this.random = new SplittableRandom(seed);
    this.lastNanos = new long[sessions];
    this.channel = engine.openChannel(new ChannelId("bench", 0, seed), ready::release);
  }

  /**
   * Starts the replies and reads {@code tokens} tokens of each.
   *
   * @return seconds between two tokens of a reply
   */
  Samples decode(int tokens) throws InterruptedException {
    if (lastNanos.length > 0 && lastNanos[0] == 0) {
      for (int i = 0; i < lastNanos.length; i++) {
        engine.submit(channel, i, request(SHORT_PROMPT, replyTokens));
      }
      while (Arrays.stream(lastNanos).anyMatch(nanos -> nanos == 0)) {
        read();
      }
    }
    gaps = new Samples();
    while (gaps.count() < tokens * lastNanos.length) {
      read();
    }
    return gaps;
  }

  /**
   * Lets a prompt come in.
   *
   * @param between receives the seconds between two tokens of a reply meanwhile
   * @return seconds to its first token
   */
  double prompt(int tokens, Samples between) throws InterruptedException {
    EngineRequest request = request(tokens, 1);
    gaps = between;
    firstNanos = 0;
    long begun = System.nanoTime();
    engine.submit(channel, lastNanos.length + prompts++, request);
    while (firstNanos == 0) {
      read();
    }
    return (firstNanos - begun) * 1e-9;
  }

  private void read() throws InterruptedException {
    ready.acquire();
    ready.drainPermits();
    channel.drain(this);
  }

  private EngineRequest request(int promptTokens, int tokens) {
    int[] prompt = random.ints(promptTokens, 0, vocabSize).toArray();
    return EngineRequest.builder("bench", () -> prompt, tokens).ignoreEndOfTurn(true).build();
  }

  @Override
  public void promptReady(long requestId) {}

  @Override
  public void progress(long requestId, ReplyProgress progress) {
    boolean running = requestId < lastNanos.length;
    if (progress.finish() != null && (running || progress.finish() != FinishReason.LENGTH)) {
      throw new CliException("a reply ended: " + progress.finish() + ", " + progress.error());
    }
    long now = System.nanoTime();
    if (!running) {
      firstNanos = now;
    } else {
      int reply = (int) requestId;
      if (lastNanos[reply] > 0) {
        gaps.add((now - lastNanos[reply]) * 1e-9);
      }
      lastNanos[reply] = now;
    }
  }

  @Override
  public void close() {
    channel.close();
  }
}
