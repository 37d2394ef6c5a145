package io.radixflow.lab.simulate;

import java.util.Arrays;
import java.util.BitSet;

/**
 * The most hits that any policy could have: Belady's MIN with bypass, which knows the future and
 * drops the block whose next use is farthest away. A bound, not a policy. Thread-safe.
 *
 * <p>On a prefix tree it never keeps a child without its parent, because a parent is used no later
 * than its children. Blocks with the same next use are on one path, the path of the request that
 * uses them, and the deepest block is dropped first. So it suffices to count for each request how
 * many of its blocks are kept for it.
 *
 * <p>If a reply writes a block before its next use, it is not worth keeping the block until then.
 * If the replies of several requests write the same block, the figure may be too high; it is never
 * too low.
 *
 * <p>Source: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM
 * Systems Journal 5(2), 1966.
 */
public final class OptimalHits {
  private static final int NEVER = -1;

  private final CacheWorkload workload;
  private final int[][] nextUses;

  public OptimalHits(CacheWorkload workload) {
    this.workload = workload;
    this.nextUses = new int[workload.requests()][];
    int[] next = new int[workload.distinctBlocks()];
    Arrays.fill(next, NEVER);
    for (int request = workload.requests() - 1; request >= 0; request--) {
      int[] uses = new int[workload.size(request)];
      for (int i = 0; i < uses.length; i++) {
        int block = workload.block(request, i);
        uses[i] = next[block];
        next[block] = i < workload.inputs(request) ? request : NEVER;
      }
      nextUses[request] = uses;
    }
  }

  /** Returns the hits with room for {@code capacity} blocks. */
  public long hits(int capacity) {
    int[] kept = new int[workload.requests()];
    BitSet used = new BitSet(kept.length);
    long hits = 0;
    int size = 0;
    int farthest = 0;
    for (int request = 0; request < kept.length; request++) {
      hits += kept[request];
      size -= kept[request];
      kept[request] = 0;
      used.clear(request);
      for (int next : nextUses[request]) {
        if (next != NEVER) {
          kept[next]++;
          used.set(next);
          farthest = Math.max(farthest, next);
          size++;
        }
      }
      while (size > capacity) {
        farthest = used.previousSetBit(farthest);
        int dropped = Math.min(kept[farthest], size - capacity);
        kept[farthest] -= dropped;
        size -= dropped;
        used.set(farthest, kept[farthest] > 0);
      }
    }
    return hits;
  }
}
