package io.radixflow.lab.replay.sglang;

/** How something in a cache was used, for the order of evictions. */
abstract class CompatUse {
  final long createdAt;
  long accessedAt;
  int hitCount;
  int priority;

  /**
   * @param now becomes the time of creation and of the last access
   */
  CompatUse(long now, int priority) {
    this.createdAt = now;
    this.accessedAt = now;
    this.priority = priority;
  }

  /** Counts an insertion that went through this. */
  final void hit(int requestPriority) {
    priority = Math.max(priority, requestPriority);
    hitCount++;
  }
}
