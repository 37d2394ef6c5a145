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
   * Returns the part of a listener.
   *
   * @param buffer the most characters that may wait for the listener
   */
  Part part(int buffer) {
    return new Part(buffer);
  }

  long characters() {
    return waiting.get();
  }

  /** The characters that wait for one listener. Not thread-safe. */
  final class Part {
    private final int buffer;
    private int counted;

    private Part(int buffer) {
      this.buffer = buffer;
    }

    /** Changes the count. Returns whether too much waits for the listener. */
    boolean exceeds(int now) {
      long all = waiting.addAndGet(now - counted);
      counted = now;
      return now > buffer || all > limit && now > buffer / KEPT_PART;
    }

    void release() {
      waiting.addAndGet(-counted);
      counted = 0;
    }
  }
}
