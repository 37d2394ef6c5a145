package io.radixflow.lab.replay;

import io.radixflow.lab.replay.sglang.CompatMatch;
import io.radixflow.lab.replay.sglang.CompatNode;
import io.radixflow.lab.replay.sglang.CompatPolicy;
import io.radixflow.lab.replay.sglang.CompatTree;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Records a trace from SGLang's tree, as the recorded ones were. */
final class TraceRecorder {
  private final CompatTree tree;
  private final List<TraceStep> steps = new ArrayList<>();
  private final List<Held> held = new ArrayList<>();
  private int nextSlot = 1;
  private int nextLock;

  private record Held(int name, CompatNode node) {}

  TraceRecorder(TraceSetup setup) {
    tree = new CompatTree(CompatPolicy.named(setup.policy()), setup.pageTokens(), setup.bigram());
  }

  List<TraceStep> steps() {
    return steps;
  }

  void insert(String namespace, int[] tokens, int priority) {
    int first = nextSlot;
    nextSlot += tokens.length;
    int[] slots = IntStream.range(first, nextSlot).toArray();
    int present = tree.insert(namespace, tokens, slots, priority);
    record(new TraceOperation.Insert(namespace, tokens, first, priority, present));
  }

  void match(String namespace, int[] tokens, boolean lock) {
    CompatMatch match = tree.match(namespace, tokens);
    Integer name = lock ? nextLock++ : null;
    if (lock) {
      tree.lock(match.node());
      held.add(new Held(name, match.node()));
    }
    record(new TraceOperation.Match(namespace, tokens, name, match.slots().length, match.slots()));
  }

  /** Releases one of the locks, if there are any. */
  void unlock(int number) {
    if (!held.isEmpty()) {
      Held lock = held.remove(number % held.size());
      tree.unlock(lock.node());
      record(new TraceOperation.Unlock(lock.name()));
    }
  }

  void evict(int request) {
    int[] freed = tree.evict(request);
    record(new TraceOperation.Evict(request, freed.length, freed));
  }

  private void record(TraceOperation operation) {
    TraceCounts counts =
        new TraceCounts(
            tree.evictable(),
            tree.protectedUnits(),
            tree.total(),
            tree.nodes(),
            tree.evictableLeaves());
    steps.add(new TraceStep(operation, counts));
  }
}
