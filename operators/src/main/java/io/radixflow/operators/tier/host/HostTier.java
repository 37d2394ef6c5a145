package io.radixflow.operators.tier.host;

import io.radixflow.kernels.device.HostPages;
import io.radixflow.operators.cache.KvEventListener;
import io.radixflow.operators.record.KvEvent;
import io.radixflow.operators.record.KvTier;
import io.radixflow.operators.tier.page.MissCounters;
import io.radixflow.operators.tier.page.PageChain;
import io.radixflow.operators.tier.page.PageId;
import io.radixflow.operators.tier.page.TierPage;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Pages in host memory, found by what they hold.
 *
 * <ul>
 *   <li>Only pages that no other page here comes after are evicted, so that what is found from the
 *       beginning of a prefix is never cut off. Copies of pages that the device has, too, go first:
 *       when memory is tight, host and device hold different pages. Then the least recently used.
 *   <li>A locked page stays, and so do its bytes.
 * </ul>
 *
 * <p>{@code free + used == total}, after every operation; each used slot belongs to one {@link
 * HostPage}. Owned by the engine thread.
 */
public final class HostTier {
  private static final Comparator<HostPage> OLDEST_FIRST =
      Comparator.<HostPage>comparingLong(entry -> entry.lastUsed)
          .thenComparingLong(entry -> entry.number);

  private final int pageTokens;
  private final MissCounters misses = new MissCounters();
  private HostPages memory;
  private int[] free;
  private int freeCount;
  private final Map<PageId, HostPage> entries = new HashMap<>();

  /** Number of pages here by the page before them, which is not here itself. */
  private final Map<PageId, Integer> orphans = new HashMap<>();

  private final TreeSet<HostPage> copies = new TreeSet<>(OLDEST_FIRST);
  private final TreeSet<HostPage> leaves = new TreeSet<>(OLDEST_FIRST);

  /** Pages that can no longer be found and are locked. */
  private final Set<HostPage> leaving = new HashSet<>();

  private boolean held;
  private KvEventListener listener = event -> {};
  private long clock;
  private long numbers;
  private int locked;
  private long evicted;

  /**
   * @param pageTokens tokens a page, for events
   */
  public HostTier(HostPages memory, int pageTokens) {
    this.pageTokens = pageTokens;
    begin(memory);
  }

  private void begin(HostPages other) {
    memory = other;
    free = new int[memory.pages()];
    for (int i = 0; i < free.length; i++) {
      free[i] = free.length - 1 - i;
    }
    freeCount = free.length;
  }

  /** Sets whether no page is allocated until further notice. */
  public void hold(boolean value) {
    held = value;
  }

  public boolean isHeld() {
    return held;
  }

  /**
   * Assigns slots in other memory to all pages. While this is held none are added; what does not
   * fit is evicted.
   *
   * @return null if more are locked than fit
   */
  Map<HostPage, Integer> slotsIn(HostPages other) {
    while (used() > other.pages()) {
      if (!evictOne(null, true)) {
        return null;
      }
    }
    Map<HostPage, Integer> slots = new HashMap<>();
    entries.values().forEach(entry -> slots.put(entry, slots.size()));
    leaving.forEach(entry -> slots.put(entry, slots.size()));
    return slots;
  }

  /** Uses other memory from here, to which all pages were copied; returns the memory before. */
  HostPages moveTo(HostPages other, Map<HostPage, Integer> slots) {
    HostPages before = memory;
    boolean[] taken = new boolean[other.pages()];
    for (Collection<HostPage> each : List.of(entries.values(), leaving)) {
      for (HostPage entry : each) {
        entry.slot = slots.get(entry);
        taken[entry.slot] = true;
      }
    }
    begin(other);
    freeCount = 0;
    for (int page = taken.length - 1; page >= 0; page--) {
      if (!taken[page]) {
        free[freeCount++] = page;
      }
    }
    return before;
  }

  /** Publishes pages that enter or leave from now on; their events carry no token ids. */
  public void listen(KvEventListener other) {
    listener = other;
  }

  public HostPages memory() {
    return memory;
  }

  /** Tokens of a page. */
  public int pageTokens() {
    return pageTokens;
  }

  /** Counts pages that were asked for and served neither from here nor from a store. */
  public MissCounters misses() {
    return misses;
  }

  public int total() {
    return free.length;
  }

  public int used() {
    return free.length - freeCount;
  }

  /** Number of pages that are being read or filled. */
  public int locked() {
    return locked;
  }

  public long evicted() {
    return evicted;
  }

  /** Returns a page, being filled or ready; or null. */
  public HostPage get(PageId id) {
    return entries.get(id);
  }

  /** Returns how many pages of a chain, from one on, can be found, one after the other. */
  public int readyPages(PageChain chain, int from) {
    int at = from;
    while (at < chain.pages() && isReady(chain.id(at))) {
      at++;
    }
    return at - from;
  }

  private boolean isReady(PageId id) {
    HostPage entry = entries.get(id);
    return entry != null && entry.ready;
  }

  /**
   * Locks the pages of a chain that can be found, from one on and before another, one after the
   * other.
   */
  public List<HostPage> lockReady(PageChain chain, int from, int to) {
    List<HostPage> found = new ArrayList<>();
    for (int i = from; i < to && isReady(chain.id(i)); i++) {
      found.add(entries.get(chain.id(i)));
    }
    found.forEach(this::lock);
    return found;
  }

  /** The bytes of a page that the caller has locked. */
  public ByteBuffer buffer(HostPage entry) {
    return memory.buffer(entry.slot);
  }

  /**
   * Takes a slot for a page that has none, and locks it for the caller, who fills it.
   *
   * @param needed whether pages that no other tier has may be evicted for it
   * @return null if there is no room, or the memory is held
   */
  public HostPage allocate(TierPage page, boolean needed) {
    if (held || freeCount == 0 && !evictOne(page.parent(), needed)) {
      return null;
    }
    HostPage entry = new HostPage(page, free[--freeCount], ++numbers);
    Integer waiting = orphans.remove(page.id());
    entry.children = waiting == null ? 0 : waiting;
    entry.locks = 1;
    locked++;
    entry.lastUsed = ++clock;
    entries.put(page.id(), entry);
    countChild(page.parent(), 1);
    return entry;
  }

  private void countChild(PageId parent, int change) {
    if (parent == null) {
      return;
    }
    HostPage entry = entries.get(parent);
    if (entry == null) {
      orphans.merge(parent, change, (a, b) -> a + b == 0 ? null : Integer.valueOf(a + b));
      return;
    }
    unlist(entry);
    entry.children += change;
    list(entry);
  }

  /** Evicts a leaf other than {@code kept}; false if there is none that may go. */
  private boolean evictOne(PageId kept, boolean needed) {
    HostPage victim = oldest(copies, kept);
    if (victim == null && needed) {
      victim = oldest(leaves, kept);
    }
    if (victim == null) {
      return false;
    }
    evicted++;
    remove(victim);
    return true;
  }

  private static HostPage oldest(TreeSet<HostPage> from, PageId kept) {
    for (HostPage entry : from) {
      if (!entry.id().equals(kept)) {
        return entry;
      }
    }
    return null;
  }

  /** A page is filled: it can be found from now on. */
  public void ready(HostPage entry, int checksum) {
    entry.checksum = checksum;
    entry.ready = true;
    if (!entry.removed) {
      listener.accept(stored(entry));
    }
  }

  private KvEvent.Stored stored(HostPage entry) {
    PageId parent = entry.page.parent();
    return new KvEvent.Stored(
        KvTier.HOST,
        entry.page.namespace(),
        entry.id().block(),
        parent == null ? null : Long.valueOf(parent.block()),
        pageTokens,
        null);
  }

  /** Returns events of all pages that can be found, none before its parent's. */
  public List<KvEvent.Stored> content() {
    Set<HostPage> ordered = new LinkedHashSet<>();
    for (HostPage entry : entries.values()) {
      ArrayDeque<HostPage> path = new ArrayDeque<>();
      for (HostPage each = entry; each != null && !ordered.contains(each); each = parent(each)) {
        path.push(each);
      }
      ordered.addAll(path);
    }
    return ordered.stream().filter(entry -> entry.ready).map(this::stored).toList();
  }

  private HostPage parent(HostPage entry) {
    return entry.page.parent() == null ? null : entries.get(entry.page.parent());
  }

  void lock(HostPage entry) {
    if (entry.locks == 0) {
      unlist(entry);
      locked++;
    }
    entry.locks++;
  }

  /** Releases a lock, which counts as a use; the last one frees the slot of a removed page. */
  public void unlock(HostPage entry) {
    if (entry.locks == 0) {
      throw new IllegalStateException("a host page is unlocked more often than it was locked");
    }
    entry.lastUsed = ++clock;
    if (--entry.locks == 0) {
      locked--;
      if (entry.removed) {
        leaving.remove(entry);
        free[freeCount++] = entry.slot;
      } else {
        list(entry);
      }
    }
  }

  /** Sets whether the device has a page, too; one that it has no more counts as used until now. */
  public void onDevice(HostPage entry, boolean value) {
    unlist(entry);
    entry.onDevice = value;
    entry.lastUsed = ++clock;
    list(entry);
  }

  /** No store has any page from here on. */
  public void clearStored() {
    entries.values().forEach(entry -> entry.stored = false);
  }

  /** The device has no page any more. */
  public void notOnDevice() {
    for (HostPage entry : entries.values()) {
      if (entry.onDevice) {
        onDevice(entry, false);
      }
    }
  }

  /** Makes a page impossible to find; its slot is free once no lock is left. */
  public void remove(HostPage entry) {
    if (entry.removed) {
      return;
    }
    unlist(entry);
    entry.removed = true;
    entries.remove(entry.id());
    if (entry.children > 0) {
      orphans.put(entry.id(), entry.children);
    }
    countChild(entry.page.parent(), -1);
    if (entry.locks == 0) {
      free[freeCount++] = entry.slot;
    } else {
      leaving.add(entry);
    }
    if (entry.ready) {
      listener.accept(new KvEvent.Removed(KvTier.HOST, new long[] {entry.id().block()}));
    }
  }

  /** Removes all pages; see {@link #remove}. */
  public void clear() {
    new ArrayList<>(entries.values()).forEach(this::remove);
  }

  /** Removes each page that a test holds for; see {@link #remove}. */
  public void removeIf(Predicate<HostPage> test) {
    entries.values().stream().filter(test).toList().forEach(this::remove);
  }

  /** Returns whether slots, pages and counters agree; walks everything. */
  public boolean audit() {
    boolean[] taken = new boolean[free.length];
    for (int i = 0; i < freeCount; i++) {
      if (taken[free[i]]) {
        return false;
      }
      taken[free[i]] = true;
    }
    for (HostPage entry : entries.values()) {
      if (taken[entry.slot]) {
        return false;
      }
      taken[entry.slot] = true;
      boolean leaf = entry.locks == 0 && entry.children == 0;
      if (copies.contains(entry) != (leaf && entry.onDevice)
          || leaves.contains(entry) != (leaf && !entry.onDevice)) {
        return false;
      }
    }
    return true;
  }

  private void list(HostPage entry) {
    if (entry.locks == 0 && entry.children == 0 && !entry.removed) {
      (entry.onDevice ? copies : leaves).add(entry);
    }
  }

  private void unlist(HostPage entry) {
    (entry.onDevice ? copies : leaves).remove(entry);
  }
}
