package io.radixflow.operators.tier.remote;

import java.util.function.LongSupplier;

/**
 * Decides whether a file system that may be down is tried. After {@link #FAILURES} failures in a
 * row it is not; then one try is permitted after a second, and after twice as long each time that
 * it fails, up to a minute. Safe for several threads.
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
   * @param clock milliseconds that only grow
   */
  CircuitBreaker(LongSupplier clock) {
    this.clock = clock;
  }

  /** Returns whether a try would be permitted now. */
  synchronized boolean isReady() {
    return failures < FAILURES || !trying && clock.getAsLong() - retryAt >= 0;
  }

  /** Permits a try, whose end the caller reports, or returns false. */
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
