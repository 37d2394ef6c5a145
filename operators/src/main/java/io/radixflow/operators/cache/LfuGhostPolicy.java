package io.radixflow.operators.cache;

/**
 * LFU that remembers evicted pages: a page that comes back goes on with the uses it had. Bounded,
 * see {@link GhostPages}; O(log leaves) an operation.
 */
final class LfuGhostPolicy implements EvictionPolicy {
  private final LeafOrderPolicy order =
      new LeafOrderPolicy("lfu-ghost", node -> node.uses, node -> node.lastUsedAt);
  private final GhostPages ghosts;

  /**
   * @param capacity pages of the pool
   */
  LfuGhostPolicy(int capacity) {
    ghosts = GhostPages.forPool(capacity);
  }

  @Override
  public String name() {
    return order.name();
  }

  @Override
  public void add(TreeNode node) {
    order.add(node);
  }

  @Override
  public void remove(TreeNode node) {
    order.remove(node);
  }

  @Override
  public void childless(TreeNode node) {
    order.childless(node);
  }

  @Override
  public void split(TreeNode front, TreeNode back) {
    order.split(front, back);
  }

  @Override
  public boolean mergeable(TreeNode front, TreeNode back) {
    return order.mergeable(front, back);
  }

  @Override
  public void merged(TreeNode front, TreeNode back) {
    order.merged(front, back);
  }

  @Override
  public TreeNode victim() {
    return order.victim();
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
    int place = ghosts.find(pageHash);
    if (place >= 0) {
      ghosts.forget(place);
    }
  }

  @Override
  public void evicted(TreeNode node, long pageHash) {
    ghosts.put(pageHash, node);
  }
}
