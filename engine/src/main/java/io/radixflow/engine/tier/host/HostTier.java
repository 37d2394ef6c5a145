package io.radixflow.engine.tier.host;

import io.radixflow.engine.cache.KvEventListener;
import io.radixflow.engine.tier.page.MissCounters;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
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
import java.util.stream.IntStream;

/**
 * Pages in host memory, found by their content.
 *
 * <ul>
 *   <li>A page is evicted only if no other page here follows it, so a prefix is never cut in the
 *       middle. Copies of pages that the device also has are evicted first: when memory is tight,
 *       host and device keep different pages. Then the least recently used page is evicted.
 *   <li>A locked page stays, and its bytes do not change.
 *   <li>Window parts have their own slots, and are evicted separately, the least recently used
 *       first. They leave with their page at the latest, unless they arrived before it.
 * </ul>
 *
 * <p>{@code free + used == total}, after every operation; each used slot belongs to one {@link
 * HostPage}. Counters are of pages, without window parts. Owned by the engine thread.
 */
public final class HostTier {
  private static final Comparator<HostPage> OLDEST_FIRST =
      Comparator.<HostPage>comparingLong(entry -> entry.lastUsed)
          .thenComparingLong(entry -> entry.number);

  private final int pageTokens;
  private final MissCounters misses = new MissCounters();
  private HostPages memory;
  private Slots free;
  private Slots freeParts;
  private final Map<PageId, HostPage> entries = new HashMap<>();

  /** The number of pages here by their previous page, for previous pages that are not here. */
  private final Map<PageId, Integer> orphans = new HashMap<>();

  private final TreeSet<HostPage> copies = new TreeSet<>(OLDEST_FIRST);
  private final TreeSet<HostPage> leaves = new TreeSet<>(OLDEST_FIRST);
  private final TreeSet<HostPage> windows = new TreeSet<>(OLDEST_FIRST);

  /** Pages that can no longer be found and are locked. */
  private final Set<HostPage> leaving = new HashSet<>();

  private boolean held;
  private KvEventListener listener = event -> {};
  private long clock;
  private long numbers;
  private int locked;
  private long evicted;

  /** The free slots of pages, or of window parts. */
  private static final class Slots {
    final int[] slots;
    int count;

    Slots(int first, int total) {
      slots = new int[total];
      for (int slot = first + total - 1; slot >= first; slot--) {
        slots[count++] = slot;
      }
    }

    int used() {
      return slots.length - count;
    }

    int take() {
      return slots[--count];
    }

    void give(int slot) {
      slots[count++] = slot;
    }

    /** Keeps the entries that are not taken. */
    void retain(boolean[] taken) {
      int all = count;
      count = 0;
      for (int i = 0; i < all; i++) {
        if (!taken[slots[i]]) {
          give(slots[i]);
        }
      }
    }
  }

  /**
   * @param pageTokens tokens per page, for events
   */
  public HostTier(HostPages memory, int pageTokens) {
    this.pageTokens = pageTokens;
    begin(memory);
  }

  private void begin(HostPages other) {
    memory = other;
    free = new Slots(0, memory.pages());
    freeParts = new Slots(memory.pages(), memory.parts());
  }

  private Slots free(HostPage entry) {
    return entry.isWindow() ? freeParts : free;
  }

  /** Sets whether no page is allocated until further notice. */
  public void hold(boolean value) {
    held = value;
  }

  public boolean isHeld() {
    return held;
  }

  /**
   * Assigns slots in other memory to all pages; evicts pages that do not fit. No pages are added
   * while host memory is held.
   *
   * @return null if more pages are locked than fit
   */
  public Map<HostPage, Integer> slotsIn(HostPages other) {
    while (used() > other.pages()) {
      if (!evictOne(null, true)) {
        return null;
      }
    }
    while (freeParts.used() > other.parts()) {
      if (!evictWindow()) {
        return null;
      }
    }
    Map<HostPage, Integer> slots = new HashMap<>();
    int[] next = {0, other.pages()};
    for (Collection<HostPage> each : List.of(entries.values(), leaving)) {
      each.forEach(entry -> slots.put(entry, next[entry.isWindow() ? 1 : 0]++));
    }
    return slots;
  }

  /** Uses other memory from now on, to which all pages were copied; returns the previous memory. */
  public HostPages moveTo(HostPages other, Map<HostPage, Integer> slots) {
    HostPages before = memory;
    boolean[] taken = new boolean[other.pages() + other.parts()];
    for (Collection<HostPage> each : List.of(entries.values(), leaving)) {
      for (HostPage entry : each) {
        entry.slot = slots.get(entry);
        taken[entry.slot] = true;
      }
    }
    begin(other);
    free.retain(taken);
    freeParts.retain(taken);
    return before;
  }

  /** Publishes pages that enter or leave from now on; their events carry no token ids. */
  public void listen(KvEventListener other) {
    listener = other;
  }

  public HostPages memory() {
    return memory;
  }

  public int pageTokens() {
    return pageTokens;
  }

  /** Returns the counters of pages that neither host memory nor a store returned. */
  public MissCounters misses() {
    return misses;
  }

  public int total() {
    return free.slots.length;
  }

  public int used() {
    return free.used();
  }

  /** Returns the number of window parts in use. */
  public int usedParts() {
    return freeParts.used();
  }

  /** Returns the number of pages that are being read or filled. */
  public int locked() {
    return locked;
  }

  public long evicted() {
    return evicted;
  }

  /** Returns a page that is being filled or is ready; null if there is none. */
  public HostPage get(PageId id) {
    return entries.get(id);
  }

  /** Returns how many consecutive pages of a chain, from {@code from} on, can be found. */
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
   * Locks the consecutive pages of a chain that can be found, from {@code from} on and before
   * {@code to}.
   */
  public List<HostPage> lockReady(PageChain chain, int from, int to) {
    List<HostPage> found = new ArrayList<>();
    for (int i = from; i < to && isReady(chain.id(i)); i++) {
      found.add(entries.get(chain.id(i)));
    }
    found.forEach(this::lock);
    return found;
  }

  /** Returns whether the window part of a page of a chain can be found. */
  public boolean isWindowReady(PageChain chain, int index) {
    return isReady(chain.id(index).window());
  }

  /** Locks the window parts of pages of a chain; all of them can be found. */
  public List<HostPage> lockWindows(PageChain chain, int from, int to) {
    List<HostPage> found =
        IntStream.range(from, to).mapToObj(i -> entries.get(chain.id(i).window())).toList();
    found.forEach(this::lock);
    return found;
  }

  /** Returns the bytes of a page that the caller has locked. */
  public ByteBuffer buffer(HostPage entry) {
    return memory.buffer(entry.slot);
  }

  /**
   * Takes a slot for a page that has none, and locks it for the caller, who fills it.
   *
   * @param needed whether pages that are not on the device may be evicted to make room
   * @return null if no slot is free, or the memory is held
   */
  public HostPage allocate(TierPage page, boolean needed) {
    boolean window = page.isWindow();
    Slots slots = window ? freeParts : free;
    if (held || slots.count == 0 && !(window ? evictWindow() : evictOne(page.parent(), needed))) {
      return null;
    }
    HostPage entry = new HostPage(page, slots.take(), ++numbers);
    entry.locks = 1;
    entry.lastUsed = ++clock;
    entries.put(page.id(), entry);
    if (!window) {
      Integer waiting = orphans.remove(page.id());
      entry.children = waiting == null ? 0 : waiting;
      locked++;
      countChild(page.parent(), 1);
    }
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

  /** Evicts a leaf other than {@code kept}; returns false if no leaf may be evicted. */
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

  /** Evicts a window part; returns false if all are locked. */
  private boolean evictWindow() {
    if (windows.isEmpty()) {
      return false;
    }
    remove(windows.first());
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

  /** Records that a page is filled, so that it can be found from now on. */
  public void ready(HostPage entry, int checksum) {
    entry.checksum = checksum;
    entry.ready = true;
    if (!entry.removed && !entry.isWindow()) {
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

  /** Returns events of all pages that can be found, each after its parent's. */
  public List<KvEvent.Stored> content() {
    Set<HostPage> ordered = new LinkedHashSet<>();
    for (HostPage entry : entries.values()) {
      ArrayDeque<HostPage> path = new ArrayDeque<>();
      for (HostPage each = entry; each != null && !ordered.contains(each); each = parent(each)) {
        path.push(each);
      }
      ordered.addAll(path);
    }
    return ordered.stream()
        .filter(entry -> entry.ready && !entry.isWindow())
        .map(this::stored)
        .toList();
  }

  private HostPage parent(HostPage entry) {
    return entry.page.parent() == null ? null : entries.get(entry.page.parent());
  }

  void lock(HostPage entry) {
    if (entry.locks == 0) {
      unlist(entry);
      locked += entry.isWindow() ? 0 : 1;
    }
    entry.locks++;
  }

  /** Releases a lock, which counts as a use; the last release frees the slot of a removed page. */
  public void unlock(HostPage entry) {
    if (entry.locks == 0) {
      throw new IllegalStateException("a host page is unlocked more often than it was locked");
    }
    entry.lastUsed = ++clock;
    if (--entry.locks == 0) {
      locked -= entry.isWindow() ? 0 : 1;
      if (entry.removed) {
        leaving.remove(entry);
        free(entry).give(entry.slot);
      } else {
        list(entry);
      }
    }
  }

  /**
   * Sets whether the device also has a page. A page that left the device counts as used until now.
   */
  public void onDevice(HostPage entry, boolean value) {
    unlist(entry);
    entry.onDevice = value;
    entry.lastUsed = ++clock;
    list(entry);
  }

  /** Counts the window part of a page that the device has as used now. */
  public void used(HostPage window) {
    unlist(window);
    window.lastUsed = ++clock;
    list(window);
  }

  /** Records that no store has any page. */
  public void clearStored() {
    entries.values().forEach(entry -> entry.stored = false);
  }

  /** Records that the device no longer has any page. */
  public void notOnDevice() {
    for (HostPage entry : entries.values()) {
      if (entry.onDevice) {
        onDevice(entry, false);
      }
    }
  }

  /**
   * Makes a page and its window part impossible to find; their slots become free when they have no
   * locks.
   */
  public void remove(HostPage entry) {
    if (entry.removed) {
      return;
    }
    unlist(entry);
    entry.removed = true;
    entries.remove(entry.id());
    if (!entry.isWindow()) {
      if (entry.children > 0) {
        orphans.put(entry.id(), entry.children);
      }
      countChild(entry.page.parent(), -1);
      removeWindow(entry.id());
    }
    if (entry.locks == 0) {
      free(entry).give(entry.slot);
    } else {
      leaving.add(entry);
    }
    if (entry.ready && !entry.isWindow()) {
      listener.accept(new KvEvent.Removed(KvTier.HOST, new long[] {entry.id().block()}));
    }
  }

  /** Removes the window part of a page, if there is one; see {@link #remove}. */
  public void removeWindow(PageId page) {
    HostPage window = entries.get(page.window());
    if (window != null) {
      remove(window);
    }
  }

  /** Removes all pages; see {@link #remove}. */
  public void clear() {
    new ArrayList<>(entries.values()).forEach(this::remove);
  }

  /** Removes each page that passes a test; see {@link #remove}. */
  public void removeIf(Predicate<HostPage> test) {
    entries.values().stream().filter(test).toList().forEach(this::remove);
  }

  /** Returns whether slots, pages and counters agree; walks everything. */
  public boolean audit() {
    boolean[] taken = new boolean[memory.pages() + memory.parts()];
    for (Slots slots : List.of(free, freeParts)) {
      for (int i = 0; i < slots.count; i++) {
        if (taken[slots.slots[i]]) {
          return false;
        }
        taken[slots.slots[i]] = true;
      }
    }
    for (HostPage entry : entries.values()) {
      if (taken[entry.slot]) {
        return false;
      }
      taken[entry.slot] = true;
      boolean leaf = entry.locks == 0 && entry.children == 0;
      boolean window = entry.isWindow();
      if (copies.contains(entry) != (leaf && !window && entry.onDevice)
          || leaves.contains(entry) != (leaf && !window && !entry.onDevice)
          || windows.contains(entry) != (leaf && window)) {
        return false;
      }
    }
    return true;
  }

  private void list(HostPage entry) {
    if (entry.locks == 0 && entry.children == 0 && !entry.removed) {
      listOf(entry).add(entry);
    }
  }

  private void unlist(HostPage entry) {
    listOf(entry).remove(entry);
  }

  private TreeSet<HostPage> listOf(HostPage entry) {
    if (entry.isWindow()) {
      return windows;
    }
    return entry.onDevice ? copies : leaves;
  }
}
