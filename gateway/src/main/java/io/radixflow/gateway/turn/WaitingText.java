package io.radixflow.gateway.turn;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the characters that wait for all listeners, so that many slow clients cannot fill the
 * heap. Thread-safe.
 */
final class WaitingText {

  /** The part of its buffer that a listener may use while the total is too large. */
  private static final int KEPT_PART = 16;

  private final long limit;
  private final AtomicLong waiting = new AtomicLong();

  WaitingText(long limit) {
    this.limit = limit;
  }

  /** Returns a counter with a limit of an eighth of the heap. */
  static WaitingText ofHeap() {
    return new WaitingText(Runtime.getRuntime().maxMemory() / 8);
  }

  /**
   * Changes the count of a listener.
   *
   * @param before the characters that were counted for the listener so far
   * @param now the characters that wait for the listener now
   * @param buffer the most characters that may wait for one listener
   * @return whether too much waits for the listener
   */
  boolean exceeds(int before, int now, int buffer) {
    long all = waiting.addAndGet(now - before);
    return now > buffer || all > limit && now > buffer / KEPT_PART;
  }

  void release(int counted) {
    waiting.addAndGet(-counted);
  }

  long characters() {
    return waiting.get();
  }
}
