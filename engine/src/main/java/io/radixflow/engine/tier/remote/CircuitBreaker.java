package io.radixflow.engine.tier.remote;

import java.util.function.LongSupplier;

/**
 * Decides whether to try a file system that may be down. After {@link #FAILURES} consecutive
 * failures it blocks all tries for one second and then permits a single try. Each further failure
 * doubles the pause, up to a minute. Thread-safe.
 */
final class CircuitBreaker {
  static final int FAILURES = 3;
  static final long FIRST_MILLIS = 1_000;
  static final long MOST_MILLIS = 60_000;

  private final LongSupplier clock;
  private int failures;
  private long pause = FIRST_MILLIS;
  private long retryAt;
  private boolean trying;

  /**
   * @param clock milliseconds that never decrease
   */
  CircuitBreaker(LongSupplier clock) {
    this.clock = clock;
  }

  /** Returns whether a try would be permitted now. */
  synchronized boolean isReady() {
    return failures < FAILURES || !trying && clock.getAsLong() - retryAt >= 0;
  }

  /** Returns whether a try is permitted. If it is, the caller must report the result. */
  synchronized boolean begin() {
    if (!isReady()) {
      return false;
    }
    trying |= failures >= FAILURES;
    return true;
  }

  /** Reports a success. */
  synchronized void succeeded() {
    failures = 0;
    pause = FIRST_MILLIS;
    trying = false;
  }

  /** Reports a failure; returns whether it has opened the breaker. */
  synchronized boolean failed() {
    boolean opens = ++failures == FAILURES;
    if (opens || trying) {
      retryAt = clock.getAsLong() + pause;
      pause = Math.min(MOST_MILLIS, 2 * pause);
      trying = false;
    }
    return opens;
  }
}
