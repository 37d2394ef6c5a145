package io.radixflow.engine.cache;

/** A policy that counts its calls. */
final class CountingPolicy implements EvictionPolicy {
  private final EvictionPolicy policy;
  long calls;

  CountingPolicy(EvictionPolicy policy) {
    this.policy = policy;
  }

  @Override
  public String name() {
    return policy.name();
  }

  @Override
  public void attach(RadixCache cache) {
    policy.attach(cache);
  }

  @Override
  public void add(TreeNode node) {
    calls++;
    policy.add(node);
  }

  @Override
  public void remove(TreeNode node) {
    calls++;
    policy.remove(node);
  }

  @Override
  public void childless(TreeNode node) {
    calls++;
    policy.childless(node);
  }

  @Override
  public void split(TreeNode front, TreeNode back) {
    calls++;
    policy.split(front, back);
  }

  @Override
  public boolean mergeable(TreeNode front, TreeNode back) {
    calls++;
    return policy.mergeable(front, back);
  }

  @Override
  public void merged(TreeNode front, TreeNode back) {
    calls++;
    policy.merged(front, back);
  }

  @Override
  public TreeNode victim() {
    calls++;
    return policy.victim();
  }

  @Override
  public void reprioritised(TreeNode node) {
    calls++;
    policy.reprioritised(node);
  }

  @Override
  public boolean wantsPageHashes() {
    return policy.wantsPageHashes();
  }

  @Override
  public int usesBefore(long pageHash) {
    return policy.usesBefore(pageHash);
  }

  @Override
  public void stored(TreeNode node, long pageHash) {
    policy.stored(node, pageHash);
  }

  @Override
  public void evicted(TreeNode node, long pageHash) {
    calls++;
    policy.evicted(node, pageHash);
  }

  @Override
  public void dropped(TreeNode node, long pageHash) {
    calls++;
    policy.dropped(node, pageHash);
  }
}
