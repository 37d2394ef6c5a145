package io.radixflow.engine.tier.host;

import io.radixflow.engine.cache.CacheComponent;
import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.Transfer;
import io.radixflow.kernels.device.Uninterruptibly;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Predicate;

/**
 * Copies pages from the device to host memory, one batch of a bounded queue at a time. A page that
 * leaves the cache during that time stays in flight until it has been copied; no step may overwrite
 * it until then. A page's window part is a separate item and is locked while it is copied. The page
 * is not freed until both copies have finished. Engine thread only.
 */
public final class Backup {
  /**
   * The number of pages of a batch, small enough that a page that leaves the cache is soon free.
   */
  static final int BATCH = 64;

  /** The maximum number of pages in the queue; further pages are dropped. */
  static final int MAX_WAITING = 8192;

  /** A page in the queue or in the batch. */
  private static final class Item {
    final TierPage page;
    final boolean window;
    final int device;
    final int index;

    /** Set while this item has locked the window part. */
    boolean locked;

    /** Set once the page has left the cache, so that it is freed after its copy. */
    boolean leaving;

    /** Cleared if the copy is cancelled. */
    boolean wanted = true;

    boolean copying;
    HostPage entry;

    Item(TierPage page, int device, int index) {
      this.page = page;
      this.window = page.isWindow();
      this.device = device;
      this.index = index;
    }
  }

  private final KvPool pool;
  private final HostTier host;
  private final Consumer<List<HostPage>> copied;

  /** The item of each page of the device, and of each page's window part, or null. */
  private final Item[] items;

  private final Item[] windowItems;

  private final ArrayDeque<Item> waiting = new ArrayDeque<>();

  /** Pages that entered the cache while others were leaving it; the next batch may copy them. */
  private final Set<PageId> returned = new HashSet<>();

  private final Item[] batch = new Item[BATCH];
  private final int[] devicePages = new int[BATCH];
  private final int[] hostPages = new int[BATCH];
  private PageAllocator allocator;
  private CacheComponent component = CacheComponent.NONE;
  private int lockedParts;
  private int batchSize;
  private Transfer transfer;
  private int leaving;
  private long pages;
  private long dropped;
  private long failures;

  /**
   * @param copied receives the copied entries of each batch, locked
   */
  public Backup(KvPool pool, HostTier host, Consumer<List<HostPage>> copied) {
    this.pool = pool;
    this.host = host;
    this.copied = copied;
    this.items = new Item[pool.pages()];
    this.windowItems = new Item[pool.pages()];
  }

  /** Frees pages with another allocator from now on; none of its pages is in the queue. */
  public void attach(PageAllocator owner, CacheComponent parts) {
    allocator = owner;
    component = parts;
  }

  /** Returns the number of pages copied. */
  public long pages() {
    return pages;
  }

  /** Returns the number of pages that should have been copied and were not. */
  public long dropped() {
    return dropped;
  }

  public long failures() {
    return failures;
  }

  /** Returns the number of pages that wait or are being copied. */
  public int queued() {
    return waiting.size() + batchSize;
  }

  /** Returns the number of pages that have left the cache and will be free. */
  public int leaving() {
    return leaving;
  }

  /** Returns whether a page has left the cache and will be freed here. */
  public boolean isLeaving(int device) {
    return leaving > 0 && (isLeaving(items[device]) || isLeaving(windowItems[device]));
  }

  private static boolean isLeaving(Item item) {
    return item != null && item.leaving;
  }

  /** Returns the number of window parts that are locked because they are being copied. */
  public int lockedParts() {
    return lockedParts;
  }

  /** Visits the page of each window part that is locked here. */
  public void forEachLockedPart(IntConsumer visitor) {
    for (int i = 0; lockedParts > 0 && i < windowItems.length; i++) {
      if (windowItems[i] != null && windowItems[i].locked) {
        visitor.accept(i);
      }
    }
  }

  public boolean isIdle() {
    return transfer == null && waiting.isEmpty();
  }

  public boolean isInProgress() {
    return transfer != null;
  }

  private Item[] items(boolean window) {
    return window ? windowItems : items;
  }

  /**
   * Queues a page of the cache, or its window part, unless it is queued or on the host.
   *
   * @param page null if the page must not be copied
   */
  public void offer(TierPage page, int device, int index) {
    if (page == null || items(page.isWindow())[device] != null || host.get(page.id()) != null) {
      return;
    }
    if (waiting.size() >= MAX_WAITING) {
      dropped++;
      return;
    }
    add(new Item(page, device, index));
  }

  private void add(Item item) {
    items(item.window)[item.device] = item;
    waiting.add(item);
  }

  /** Records that a page that the host does not have is in the cache again. */
  public void stored(PageId page) {
    if (leaving > 0) {
      returned.add(page);
    }
  }

  /**
   * Records that a page leaves the cache.
   *
   * @param page null to start no copy of the page; a copy that has begun still finishes
   * @param window the same for its window part
   * @return whether the page stays in flight until it has been copied
   */
  public boolean leaving(int device, PageId id, TierPage page, TierPage window, int index) {
    returned.remove(id);
    boolean stays = leaves(items, device, page, index);
    stays |= leaves(windowItems, device, window, index);
    leaving += stays ? 1 : 0;
    return stays;
  }

  private boolean leaves(Item[] kind, int device, TierPage page, int index) {
    Item item = kind[device];
    if (item != null && !item.copying && page == null) {
      item.wanted = false;
      kind[device] = null;
      return false;
    }
    if (item == null) {
      if (page == null || host.get(page.id()) != null || waiting.size() >= MAX_WAITING) {
        return false;
      }
      item = new Item(page, device, index);
      add(item);
    }
    item.wanted &= page != null;
    item.leaving = true;
    return true;
  }

  /** Ends a copied batch and starts the next; returns whether there was any. */
  public boolean poll() {
    boolean ended = transfer != null && transfer.isDone();
    if (ended) {
      finish(transfer.failure());
    }
    boolean next = transfer == null && !waiting.isEmpty();
    if (next) {
      start();
    }
    return ended || next;
  }

  private void start() {
    while (batchSize < BATCH && !waiting.isEmpty()) {
      Item item = waiting.poll();
      if (items(item.window)[item.device] != item) {
        continue; // the page has left, and another page may have taken its place
      }
      boolean gone = item.window && !component.has(item.device);
      if (!item.wanted || gone || host.get(item.page.id()) != null) {
        release(item);
        continue;
      }
      boolean reachable = item.leaving || item.window || isOnHost(item.page.parent());
      item.entry = reachable ? host.allocate(item.page, item.leaving) : null;
      if (item.entry == null) {
        dropped++;
        release(item);
        continue;
      }
      item.entry.onDevice = !item.leaving || returned.contains(item.page.id());
      item.copying = true;
      if (item.window) {
        component.lock(item.device);
        item.locked = true;
        lockedParts++;
      }
      batch[batchSize++] = item;
    }
    if (batchSize > 0) {
      Arrays.sort(batch, 0, batchSize, Comparator.comparingInt(item -> item.index));
      for (int i = 0; i < batchSize; i++) {
        devicePages[i] =
            batch[i].window ? pool.pages() + component.part(batch[i].device) : batch[i].device;
        hostPages[i] = batch[i].entry.slot;
      }
      try {
        transfer = pool.copyOut(devicePages, host.memory(), hostPages, batchSize);
      } catch (RuntimeException e) {
        finish(e);
      }
    }
  }

  /**
   * Returns whether the next page can be found: the host has {@code page}, or {@code page} is null.
   */
  private boolean isOnHost(PageId page) {
    return page == null || host.get(page) != null;
  }

  private void release(Item item) {
    items(item.window)[item.device] = null;
    if (item.locked) {
      component.unlock(item.device, true);
      item.locked = false;
      lockedParts--;
    }
    if (item.leaving && !isLeaving(items(!item.window)[item.device])) {
      leaving--;
      allocator.free(item.device);
      if (leaving == 0) {
        returned.clear();
      }
    }
  }

  private void finish(Throwable failure) {
    transfer = null;
    failures += failure == null ? 0 : 1;
    List<HostPage> entries = new ArrayList<>(batchSize);
    for (int i = 0; i < batchSize; i++) {
      Item item = batch[i];
      batch[i] = null;
      if (failure == null && item.wanted) {
        entries.add(item.entry);
      } else {
        dropped++;
        host.remove(item.entry);
        host.unlock(item.entry);
      }
      release(item);
    }
    batchSize = 0;
    pages += entries.size();
    if (!entries.isEmpty()) {
      copied.accept(entries);
    }
  }

  /**
   * Cancels the copies of some pages; slots of pages in the batch are freed when the batch ends.
   */
  public void cancel(Predicate<TierPage> pages) {
    for (Item item : waiting) {
      item.wanted &= !pages.test(item.page);
    }
    for (int i = 0; i < batchSize; i++) {
      batch[i].wanted &= !pages.test(batch[i].page);
    }
  }

  /**
   * Waits for the batch in progress and drops the queue, because the pages of the device are void.
   */
  public void abandon() {
    if (transfer != null) {
      Uninterruptibly.await(transfer::await);
      transfer = null;
    }
    for (int i = 0; i < batchSize; i++) {
      if (batch[i] != null) { // a defect may have interrupted the end of the batch
        host.remove(batch[i].entry);
        host.unlock(batch[i].entry);
        batch[i] = null;
      }
    }
    batchSize = 0;
    leaving = 0;
    returned.clear();
    waiting.clear();
    lockedParts = 0;
    Arrays.fill(items, null);
    Arrays.fill(windowItems, null);
  }

  /** Visits each page that has left the cache and is not free yet. */
  public void forEachLeaving(IntConsumer visitor) {
    for (int device = 0; leaving > 0 && device < items.length; device++) {
      if (isLeaving(device)) {
        visitor.accept(device);
      }
    }
  }
}
