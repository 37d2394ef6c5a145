package io.radixflow.lab.traffic;

import io.radixflow.engine.ReplyProgress;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.Usage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** A reply of an engine and the times of its pieces; it may still be running. Thread-safe. */
public final class EngineReply {
  private final CompletableFuture<EngineReply> done = new CompletableFuture<>();
  private final long start = System.nanoTime();
  private final List<Long> pieces = new ArrayList<>();
  private int[] tokens = {};
  private long tokenNanos;
  private long textNanos;
  private long endNanos;
  private Usage usage;

  /**
   * Returns a future that completes at the end of the reply, and fails if the engine refused or
   * lost the request.
   */
  CompletableFuture<EngineReply> done() {
    return done;
  }

  void add(ReplyProgress progress) {
    if (progress.finish() == FinishReason.ERROR || progress.finish() == FinishReason.REJECTED) {
      fail(new IllegalStateException("the engine refused a request: " + progress.error()));
      return;
    }
    synchronized (this) {
      long now = System.nanoTime();
      pieces.add(now);
      if (tokenNanos == 0 && progress.tokens().length > 0) {
        tokenNanos = now;
      }
      if (textNanos == 0 && (progress.finish() != null || !progress.text().isEmpty())) {
        textNanos = now;
      }
      int before = tokens.length;
      tokens = Arrays.copyOf(tokens, before + progress.tokens().length);
      System.arraycopy(progress.tokens(), 0, tokens, before, progress.tokens().length);
      endNanos = System.nanoTime();
      usage = progress.usage();
      notifyAll();
    }
    if (progress.finish() != null) {
      done.complete(this);
    }
  }

  void fail(Throwable cause) {
    done.completeExceptionally(cause);
    synchronized (this) {
      notifyAll();
    }
  }

  /** Waits until the reply has {@code count} more pieces; fails if the reply has ended by then. */
  public synchronized void awaitMore(int count) throws InterruptedException {
    for (int wanted = pieces.size() + count; pieces.size() < wanted; ) {
      if (done.isDone()) {
        throw new IllegalStateException("a reply ended too early, after " + usage);
      }
      wait();
    }
  }

  /**
   * Returns the seconds between neighbouring pieces whose later piece came between {@code from} and
   * {@code to}, in nanoseconds.
   */
  public synchronized DoubleStream gaps(long from, long to) {
    List<Long> times = List.copyOf(pieces);
    return IntStream.range(1, times.size())
        .filter(i -> times.get(i) >= from && times.get(i) <= to)
        .mapToDouble(i -> (times.get(i) - times.get(i - 1)) * 1e-9);
  }

  /** Returns when the request was sent, by {@link System#nanoTime}. */
  public long start() {
    return start;
  }

  /** Returns the seconds to the first token. */
  public synchronized double tokenSeconds() {
    return (tokenNanos - start) * 1e-9;
  }

  /** Returns the seconds to the first text, or to the end if there is none. */
  public synchronized double textSeconds() {
    return (textNanos - start) * 1e-9;
  }

  /** Returns the seconds to the last piece. */
  public synchronized double endSeconds() {
    return (endNanos - start) * 1e-9;
  }

  /** Returns the token ids so far. */
  public synchronized int[] tokens() {
    return tokens.clone();
  }

  public synchronized Usage usage() {
    return usage;
  }
}
