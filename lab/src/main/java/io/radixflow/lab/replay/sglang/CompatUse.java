package io.radixflow.lab.replay.sglang;

/** The use of a node or page, for the order of evictions. */
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

  /** Counts an insertion through this node. */
  final void hit(int requestPriority) {
    priority = Math.max(priority, requestPriority);
    hitCount++;
  }
}
