package io.radixflow.engine.cache;

import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * The window parts of a pool's pages: the entries of a page in layers with an attention window.
 * Queries do not read the part of a page that is further back than the window, so a pool needs
 * fewer parts than pages. If no part is free, a part that no running request needs is given to
 * another page.
 *
 * <p>A prefix can be used only if the pages of the last {@link #window} tokens before its end have
 * their parts. A window layer's entries depend on the layers below it, so they can be computed
 * again only together with everything before them.
 *
 * <p>A part is free, locked by the running requests whose next queries read it, or kept for later
 * requests. When a part is needed, kept parts are taken in this order: first parts in the interior
 * of a prompt, where another prompt is unlikely to continue; then parts before an end, the least
 * recently used first; then parts of a pinned prefix. A running request never waits for a pinned
 * part.
 *
 * <p>Owned by the cache's thread.
 */
public final class WindowParts implements CacheComponent {
  /** Called when a page gets a part, or loses its part (-1). */
  @FunctionalInterface
  public interface Mapping {
    void map(int page, int part);
  }

  private final int window;
  private final int windowPages;
  private final int[] part;
  private final int[] locks;

  /** Whether a page's part was last released before an end that other requests may continue. */
  private final boolean[] beforeEnd;

  /** The number of pins of each page's part. */
  private final int[] pins;

  private final int[] free;
  private final Mapping mapping;
  private final IntConsumer onFree;
  private int freeCount;
  private int lockedCount;

  /**
   * Rings of pages with kept parts, in the order in which the parts were kept. The indices after
   * the pages are the heads of the rings.
   */
  private final int[] next;

  private final int[] previous;
  private final int interior;
  private final int ends;
  private final int pinned;

  private long version;
  private long taken;

  /**
   * @param window tokens that a query sees, including its own
   * @param pages pages of the pool
   * @param parts window parts, at most as many as pages
   * @param mapping is called for each page whose part changes
   * @param onFree receives each part whose content is no longer needed
   */
  public WindowParts(
      int window, int pageTokens, int pages, int parts, Mapping mapping, IntConsumer onFree) {
    if (window < 1 || parts < 1 || parts > pages) {
      throw new IllegalArgumentException(
          parts + " window parts of " + pages + " pages for a window of " + window + " tokens");
    }
    this.window = window;
    this.windowPages = (window - 1) / pageTokens + 1;
    this.mapping = mapping;
    this.onFree = onFree;
    part = new int[pages];
    Arrays.fill(part, -1);
    locks = new int[pages];
    beforeEnd = new boolean[pages];
    pins = new int[pages];
    free = new int[parts];
    for (int i = 0; i < parts; i++) {
      free[i] = parts - 1 - i;
    }
    freeCount = parts;
    interior = pages;
    ends = pages + 1;
    pinned = pages + 2;
    next = new int[pages + 3];
    previous = new int[pages + 3];
    clearQueues();
  }

  private void clearQueues() {
    clear(interior);
    clear(ends);
    clear(pinned);
  }

  private void clear(int queue) {
    next[queue] = queue;
    previous[queue] = queue;
  }

  /** Returns the number of tokens that a query sees, including its own. */
  public int window() {
    return window;
  }

  @Override
  public int endPages() {
    return windowPages;
  }

  public int total() {
    return free.length;
  }

  /** Returns the number of parts that belong to no page. */
  public int free() {
    return freeCount;
  }

  /** Returns the number of parts that running requests need. */
  public int locked() {
    return lockedCount;
  }

  /** Returns how many kept parts were taken from their pages. */
  public long taken() {
    return taken;
  }

  @Override
  public long version() {
    return version;
  }

  @Override
  public boolean has(int page) {
    return part[page] >= 0;
  }

  @Override
  public int part(int page) {
    return part[page];
  }

  @Override
  public boolean isBeforeEnd(int page) {
    return part[page] >= 0 && beforeEnd[page];
  }

  @Override
  public PrefixMatch usable(PrefixMatch match) {
    TreeNode node = match.node();
    int index = match.offset();
    TreeNode end = node;
    int offset = index;
    int pages = match.pages();
    int run = 0;
    for (int page = match.pages() - 1; page >= 0 && run < windowPages; page--) {
      while (index == 0) {
        node = node.parent;
        index = node.pageCount();
      }
      if (part[node.page(--index)] >= 0) {
        run++;
      } else {
        run = 0;
        end = node;
        offset = index;
        pages = page;
      }
    }
    while (offset == 0 && end != null && !end.isRoot()) {
      end = end.parent;
      offset = end.pageCount();
    }
    return pages == match.pages() ? match : new PrefixMatch(end, offset, pages);
  }

  @Override
  public boolean attach(int page) {
    if (part[page] < 0) {
      if (freeCount == 0 && !takeKept()) {
        return false;
      }
      set(page, free[--freeCount]);
      beforeEnd[page] = false;
      locks[page] = 1;
      lockedCount++;
    } else {
      lock(page);
    }
    return true;
  }

  private boolean takeKept() {
    int queue = next[interior] != interior ? interior : next[ends] != ends ? ends : pinned;
    int page = next[queue];
    if (page == queue) {
      return false;
    }
    unlink(page);
    drop(page);
    taken++;
    version++;
    return true;
  }

  private void drop(int page) {
    int freed = part[page];
    set(page, -1);
    free[freeCount++] = freed;
    onFree.accept(freed);
  }

  private void set(int page, int newPart) {
    part[page] = newPart;
    mapping.map(page, newPart);
  }

  @Override
  public void lock(int page) {
    if (part[page] < 0) {
      throw new IllegalStateException("page " + page + " has no window part to lock");
    }
    if (locks[page]++ == 0) {
      unlink(page);
      lockedCount++;
    }
  }

  @Override
  public void unlock(int page, boolean end) {
    if (locks[page] == 0) {
      throw new IllegalStateException("the window part of page " + page + " is not locked");
    }
    if (--locks[page] == 0) {
      lockedCount--;
      beforeEnd[page] = end;
      link(page, end ? ends : interior);
    }
  }

  @Override
  public void pin(int page) {
    if (pins[page]++ == 0 && part[page] >= 0 && locks[page] == 0) {
      unlink(page);
      beforeEnd[page] = true;
      link(page, ends);
    }
  }

  @Override
  public void unpin(int page) {
    if (--pins[page] == 0 && part[page] >= 0 && locks[page] == 0) {
      unlink(page);
      link(page, ends);
    }
  }

  @Override
  public void pageFreed(int page) {
    if (locks[page] > 0) {
      throw new IllegalStateException("page " + page + " is freed while its window part is locked");
    }
    if (part[page] >= 0) {
      unlink(page);
      drop(page);
    }
  }

  @Override
  public void replaced(int page, int by) {
    if (part[page] < 0) {
      return;
    }
    int held = locks[page];
    if (part[by] < 0) {
      int moved = part[page];
      beforeEnd[by] = held == 0;
      if (held == 0) {
        unlink(page);
        link(by, ends);
      }
      locks[by] = held;
      set(page, -1);
      set(by, moved);
      version++;
    } else if (held > 0) {
      if (locks[by] == 0) {
        unlink(by);
      } else {
        lockedCount--;
      }
      locks[by] += held;
      drop(page);
    }
    locks[page] = 0;
  }

  private void link(int page, int unlessPinned) {
    int queue = pins[page] > 0 ? pinned : unlessPinned;
    next[page] = queue;
    previous[page] = previous[queue];
    next[previous[queue]] = page;
    previous[queue] = page;
  }

  private void unlink(int page) {
    next[previous[page]] = next[page];
    previous[next[page]] = previous[page];
  }

  @Override
  public int repair(int[] held, boolean[] inUse) {
    boolean[] queued = new boolean[part.length];
    for (int queue : new int[] {interior, ends, pinned}) {
      int length = 0;
      for (int page = next[queue];
          page != queue && length <= part.length;
          page = next[page], length++) {
        queued[page] = true;
      }
    }
    boolean[] owned = new boolean[free.length];
    int wrong = 0;
    int locked = 0;
    int attached = 0;
    for (int page = 0; page < part.length; page++) {
      boolean has = part[page] >= 0;
      boolean twice = has && owned[part[page]];
      boolean right =
          held[page] == locks[page]
              && queued[page] == (has && locks[page] == 0)
              && (!has || inUse[page] && !twice)
              && (has || held[page] == 0);
      wrong += right ? 0 : 1;
      if (has && (twice || !inUse[page])) {
        set(page, -1);
      } else if (has) {
        owned[part[page]] = true;
        attached++;
      }
      locks[page] = part[page] < 0 ? 0 : held[page];
      locked += locks[page] > 0 ? 1 : 0;
    }
    wrong += locked == lockedCount && attached + freeCount == free.length ? 0 : 1;
    if (wrong > 0) {
      rebuild(owned, locked);
    }
    return wrong;
  }

  private void rebuild(boolean[] owned, int locked) {
    clearQueues();
    for (int page = 0; page < part.length; page++) {
      if (part[page] >= 0 && locks[page] == 0) {
        beforeEnd[page] = true;
        link(page, ends);
      }
    }
    freeCount = 0;
    for (int each = 0; each < owned.length; each++) {
      if (!owned[each]) {
        free[freeCount++] = each;
      }
    }
    lockedCount = locked;
    version++;
  }
}
