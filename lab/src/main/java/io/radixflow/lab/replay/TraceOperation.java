package io.radixflow.lab.replay;

/** An operation on a cache and its observed result, in units: tokens, or pairs of tokens. */
public sealed interface TraceOperation {

  /**
   * A sequence is stored.
   *
   * @param namespace null for none
   * @param firstSlot slot of the first unit; the others follow it
   * @param present units that were cached already
   */
  record Insert(String namespace, int[] tokens, int firstSlot, int priority, int present)
      implements TraceOperation {
    /** Beyond it a slot would not be a positive 32-bit number. */
    public Insert {
      if (firstSlot < 0 || firstSlot > Integer.MAX_VALUE - tokens.length) {
        throw new IllegalArgumentException(
            "there are no " + tokens.length + " slots from " + firstSlot);
      }
    }
  }

  /**
   * A sequence is looked up.
   *
   * @param lock name of the lock that then holds the found units, or null
   * @param matched units that were found
   * @param slots their slots
   */
  record Match(String namespace, int[] tokens, Integer lock, int matched, int[] slots)
      implements TraceOperation {}

  /** A lock is released. */
  record Unlock(int lock) implements TraceOperation {}

  /**
   * Room is made.
   *
   * @param request units to free
   * @param evicted units that were freed
   * @param freed their slots, in the order in which they went
   */
  record Evict(int request, int evicted, int[] freed) implements TraceOperation {}
}
