package io.radixflow.engine.cache.policy;

import io.radixflow.engine.cache.EvictionPolicy;
import io.radixflow.engine.cache.LeafHeap;
import io.radixflow.engine.cache.NodeList;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;

/**
 * Evicts the least valuable page first. Pages are ranked by hit density, which is learned from the
 * traffic for each kind of page and each age; see {@link ReuseModel}. The policy begins close to
 * LFU with a memory of evicted pages, and changes as it observes reuses: first for all kinds
 * together, then for each kind; see {@link KindOdds}. If the probability of a use falls with age,
 * the resulting order is LRU. If only a few prefixes fit, the policy keeps some of them, whereas
 * LRU would evict all of them in turn.
 *
 * <p>The kind of a page depends on how often the page was used, including uses before an eviction
 * ({@link GhostPages}), and on the turn of its conversation that stored it, if that is known.
 *
 * <p>Priorities come before the learned ranks: pages with a raised priority are evicted after all
 * other pages, pages with a lowered priority before them.
 *
 * <p>A use costs O(log slots). Choosing a victim costs O(1), except for the first victim of a tick,
 * for which the policy looks at each slot (about 150). Learning happens during uses, not evictions:
 * every few ticks one kind is learned again if a page was evicted since the last use. All kinds are
 * learned together only at the beginning, when each request changes a lot, and when a kind is new.
 */
final class AdaptivePolicy implements EvictionPolicy {
  /**
   * The longest interval between learning all kinds, in ticks; later, one part is learned at a
   * time.
   */
  private static final long LEARNING_INTERVAL = 32;

  /** Ticks between learning one part and the next. */
  private static final long PART_INTERVAL = 4;

  /** Leaves with a priority other than 0. */
  private final LeafHeap ranked = new LeafHeap(AdaptivePolicy::isBefore);

  private final IdlePages idle = new IdlePages(PageKind.COUNT);
  private final ReuseModel model;
  private final GhostPages ghosts;
  private RadixCache cache;
  private int kinds = PageKind.UNTOLD;
  private int learntKinds;
  private long learntAt = -1;

  /** The list of the next victims until a slot changes; null if the list must be chosen. */
  private NodeList next;

  private double nextDensity;

  /** True if anything was evicted since the last use. */
  private boolean evicting;

  private long slotsLookedAt;

  /**
   * @param capacity pages of the pool
   */
  AdaptivePolicy(int capacity) {
    model = new ReuseModel(PageKind.COUNT, PageKind.odds(), capacity);
    ghosts = GhostPages.forPool(capacity);
  }

  private static boolean isBefore(TreeNode a, TreeNode b) {
    int left = a.effectivePriority();
    int right = b.effectivePriority();
    return left != right ? left < right : a.lastUsedAt() < b.lastUsedAt();
  }

  @Override
  public String name() {
    return "adaptive";
  }

  @Override
  public void attach(RadixCache cache) {
    this.cache = cache;
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
      int kind = PageKind.of(ghosts.uses(entry), ghosts.turn(entry));
      used(kind, ghosts.lastUsedAt(entry), 1);
      ghosts.forget(entry);
    }
  }

  @Override
  public void evicted(TreeNode node, long pageHash) {
    ghosts.put(pageHash, node);
  }

  /** Ends the wait of a page that leaves without a use or an eviction, and counts neither. */
  @Override
  public void dropped(TreeNode node, long pageHash) {
    idle.addWaiting(node.lastUsedAt(), PageKind.of(node), -model.weight(node.lastUsedAt()));
  }

  /** Ends the wait of pages that were last used at a tick, and counts their reuse. */
  private void used(int kind, long lastUsedAt, int pages) {
    double weight = pages * model.weight(lastUsedAt);
    idle.addWaiting(lastUsedAt, kind, -weight);
    model.reused(kind, cache.clock() - lastUsedAt, weight);
  }

  @Override
  public void add(TreeNode node) {
    if (idle.begin(node.lastUsedAt())) {
      next = null;
      if (evicting) {
        learn(node.lastUsedAt());
        evicting = false;
      }
    }
    int kind = PageKind.of(node);
    kinds = Math.max(kinds, kind + 1);
    idle.addWaiting(node.lastUsedAt(), kind, node.pageCount() * model.weight(node.lastUsedAt()));
    if (node.isLeaf()) {
      enlist(node, false);
    }
  }

  private void enlist(TreeNode node, boolean asOldest) {
    if (node.effectivePriority() != 0) {
      ranked.add(node);
    } else {
      idle.addLeaf(node, PageKind.of(node), asOldest);
    }
  }

  private void delist(TreeNode node) {
    if (LeafHeap.contains(node)) {
      ranked.remove(node);
    } else if (node.list() != null) {
      idle.removeLeaf(node, PageKind.of(node));
    }
  }

  private NodeList leavesWith(TreeNode node) {
    return idle.leaves(idle.slotOf(node.lastUsedAt()), PageKind.of(node));
  }

  @Override
  public void remove(TreeNode node) {
    used(PageKind.of(node), node.lastUsedAt(), node.pageCount());
    delist(node);
  }

  /**
   * The parent of a victim was last used at the same time or later, so it replaces the victim among
   * leaves of equal value.
   */
  @Override
  public void childless(TreeNode node) {
    enlist(node, true);
    if (next != null && !LeafHeap.contains(node)) {
      int slot = idle.slotOf(node.lastUsedAt());
      double density = density(PageKind.of(node), slot);
      if (density < nextDensity) {
        next = leavesWith(node);
        nextDensity = density;
      }
    }
  }

  @Override
  public void reprioritised(TreeNode node) {
    if (LeafHeap.contains(node) || node.list() != null) {
      delist(node);
      enlist(node, false);
    }
  }

  @Override
  public void split(TreeNode front, TreeNode back) {}

  @Override
  public boolean mergeable(TreeNode front, TreeNode back) {
    return front.lastUsedAt() == back.lastUsedAt()
        && front.effectivePriority() == back.effectivePriority()
        && PageKind.of(front) == PageKind.of(back);
  }

  @Override
  public void merged(TreeNode front, TreeNode back) {
    if (LeafHeap.contains(back)) {
      ranked.remove(back);
      ranked.add(front);
    } else if (back.list() != null) {
      leavesWith(back).addAfter(front, back);
      idle.removeLeaf(back, PageKind.of(back));
    }
  }

  @Override
  public TreeNode victim() {
    TreeNode first = ranked.first();
    if (first != null && first.effectivePriority() < 0) {
      return first;
    }
    if (next == null || next.oldest() == null) {
      choose();
    }
    return next == null ? first : next.oldest();
  }

  /**
   * Sets {@link #next} to the least valuable leaves. Looks at each slot, and at each kind of leaves
   * in it.
   */
  private void choose() {
    long now = cache.clock();
    if (learntAt < 0) {
      learn(now);
    }
    evicting = true;
    next = null;
    nextDensity = Double.POSITIVE_INFINITY;
    slotsLookedAt += idle.slots();
    for (int slot = 0; slot < idle.slots(); slot++) {
      int kindsLeft = idle.occupiedKinds(slot);
      if (kindsLeft == 0) {
        continue;
      }
      int bucket = AgeScale.bucket(idle.age(slot, now));
      for (; kindsLeft != 0; kindsLeft &= kindsLeft - 1) {
        int kind = Integer.numberOfTrailingZeros(kindsLeft);
        double density = model.density(kind, bucket);
        if (density < nextDensity) {
          next = idle.leaves(slot, kind);
          nextDensity = density;
        }
      }
    }
  }

  /** Returns how many slots all searches for victims have looked at: the cost of evictions. */
  long slotsLookedAt() {
    return slotsLookedAt;
  }

  private void learn(long now) {
    long interval = kinds > learntKinds ? 1 : 1 + now / LEARNING_INTERVAL;
    if (interval > LEARNING_INTERVAL) {
      if (now - learntAt > PART_INTERVAL) {
        model.learnPart(idle, kinds, now);
        learntAt = now;
      }
    } else if (now - learntAt >= interval) {
      model.learn(idle, kinds, now);
      learntAt = now;
      learntKinds = kinds;
    }
  }

  private double density(int kind, int slot) {
    return model.density(kind, AgeScale.bucket(idle.age(slot, cache.clock())));
  }
}
