package io.radixflow.lab.replay;

import io.radixflow.lab.replay.sglang.CompatMatch;
import io.radixflow.lab.replay.sglang.CompatNode;
import io.radixflow.lab.replay.sglang.CompatPolicy;
import io.radixflow.lab.replay.sglang.CompatTree;
import java.util.stream.IntStream;

/** Replays on SGLang's tree: every field of every operation must be equal. */
public final class CompatReplay extends TraceReplay<CompatNode> {
  private final CompatTree tree;

  /**
   * @throws IllegalArgumentException if SGLang has no such policy
   */
  public CompatReplay(TraceSetup setup, ReplayReport report) {
    super(report);
    this.tree =
        new CompatTree(CompatPolicy.named(setup.policy()), setup.pageTokens(), setup.bigram());
  }

  @Override
  void unlock(CompatNode lock) {
    tree.unlock(lock);
  }

  @Override
  void insert(TraceOperation.Insert insert) {
    int first = insert.firstSlot();
    int[] slots = IntStream.range(first, first + insert.tokens().length).toArray();
    int present = tree.insert(insert.namespace(), insert.tokens(), slots, insert.priority());
    report.compare("prefixLen", insert.present(), present);
  }

  @Override
  void match(TraceOperation.Match match) {
    CompatMatch found = tree.match(match.namespace(), match.tokens());
    report.addMatched(found.slots().length);
    report.compare("matched", match.matched(), found.slots().length);
    report.compare("values", match.slots(), found.slots());
    if (match.lock() != null) {
      tree.lock(found.node());
      hold(match.lock(), found.node());
    }
  }

  @Override
  void evict(TraceOperation.Evict evict) {
    int[] freed = tree.evict(evict.request());
    report.addEvicted(freed.length);
    report.compare("evicted", evict.evicted(), freed.length);
    report.compare("freedValues", evict.freed(), freed);
  }

  @Override
  void compare(TraceCounts expected) {
    report.compare("evictable", expected.evictable(), tree.evictable());
    report.compare("protected", expected.protectedUnits(), tree.protectedUnits());
    report.compare("total", expected.total(), tree.total());
    report.compare("nodes", expected.nodes(), tree.nodes());
    report.compare("evictableLeaves", expected.evictableLeaves(), tree.evictableLeaves());
  }
}
