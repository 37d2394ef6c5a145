package io.radixflow.lab.replay;

/** An operation on a cache and its observed result, in units: tokens, or pairs of tokens. */
public sealed interface TraceOperation {

  /**
   * Stores a sequence.
   *
   * @param namespace null for none
   * @param firstSlot slot of the first unit; the others follow it
   * @param present units that were already cached
   */
  record Insert(String namespace, int[] tokens, int firstSlot, int priority, int present)
      implements TraceOperation {
    /** Checks that all slots are positive 32-bit numbers. */
    public Insert {
      if (firstSlot < 0 || firstSlot > Integer.MAX_VALUE - tokens.length) {
        throw new IllegalArgumentException(
            "there are no " + tokens.length + " slots from " + firstSlot);
      }
    }
  }

  /**
   * Looks a sequence up.
   *
   * @param lock name of the new lock on the found units, or null
   * @param matched units that were found
   * @param slots their slots
   */
  record Match(String namespace, int[] tokens, Integer lock, int matched, int[] slots)
      implements TraceOperation {}

  /** Releases a lock. */
  record Unlock(int lock) implements TraceOperation {}

  /**
   * Makes room.
   *
   * @param request units to free
   * @param evicted units that were freed
   * @param freed their slots, in the order of eviction
   */
  record Evict(int request, int evicted, int[] freed) implements TraceOperation {}
}
