package io.radixflow.gateway.turn;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what waits for all listeners together, in characters, so that many slow clients cannot
 * take the heap that each of them may have a part of. Safe for many threads.
 */
final class WaitingText {

  /** The part of its own buffer that a listener keeps while all together have too much. */
  private static final int KEPT_PART = 16;

  private final long limit;
  private final AtomicLong waiting = new AtomicLong();

  WaitingText(long limit) {
    this.limit = limit;
  }

  /** Bounds what waits by an eighth of the heap. */
  static WaitingText ofHeap() {
    return new WaitingText(Runtime.getRuntime().maxMemory() / 8);
  }

  /**
   * Changes what is counted for a listener.
   *
   * @param before characters that were counted for it
   * @param now characters that wait for it
   * @param buffer characters that may wait for one listener
   * @return whether it has too much
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
