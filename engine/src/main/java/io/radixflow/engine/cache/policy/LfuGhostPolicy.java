package io.radixflow.engine.cache.policy;

import io.radixflow.engine.cache.TreeNode;

/**
 * LFU that remembers evicted pages: a page that returns keeps its earlier uses. The memory is
 * bounded; see {@link GhostPages}. Each operation takes O(log leaves).
 */
final class LfuGhostPolicy extends LeafOrderPolicy {
  private final GhostPages ghosts;

  /**
   * @param capacity pages of the pool
   */
  LfuGhostPolicy(int capacity) {
    super("lfu-ghost", TreeNode::uses, TreeNode::lastUsedAt);
    ghosts = GhostPages.forPool(capacity);
  }

  @Override
  public boolean wantsPageHashes() {
    return true;
  }

  @Override
  public int usesBefore(long pageHash) {
    return ghosts.usesBefore(pageHash);
  }

  @Override
  public void stored(TreeNode node, long pageHash) {
    int entry = ghosts.find(pageHash);
    if (entry >= 0) {
      ghosts.forget(entry);
    }
  }

  @Override
  public void evicted(TreeNode node, long pageHash) {
    ghosts.put(pageHash, node);
  }
}
