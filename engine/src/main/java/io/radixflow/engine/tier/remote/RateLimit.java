package io.radixflow.engine.tier.remote;

import java.util.concurrent.TimeUnit;

/** Limits the average number of bytes per second. Thread-safe. */
final class RateLimit implements AutoCloseable {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final long bytesPerSecond;

  /** The time at which all bytes permitted so far have passed. */
  private long passed = System.nanoTime();

  private boolean closed;

  /**
   * @param bytesPerSecond 0 for no limit
   */
  RateLimit(long bytesPerSecond) {
    this.bytesPerSecond = bytesPerSecond;
  }

  /** Waits until {@code bytes} may pass; returns false if the limit is closed. */
  synchronized boolean pass(long bytes) {
    if (bytesPerSecond > 0 && !closed) {
      passed =
          Math.max(passed, System.nanoTime()) + (long) ((double) bytes / bytesPerSecond * SECOND);
    }
    while (!closed && bytesPerSecond > 0) {
      long left = passed - SECOND - System.nanoTime();
      if (left <= 0) {
        break;
      }
      try {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return !closed;
  }

  /** Ends all waits. */
  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }
}
