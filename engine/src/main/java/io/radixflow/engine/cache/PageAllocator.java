package io.radixflow.engine.cache;

import java.util.function.IntConsumer;

/**
 * Hands out the pages of a pool and records the owner of each: none (free), a running request (in
 * flight), the prefix cache (cached) or a session between two turns. The page that was freed last
 * is handed out first.
 *
 * <p>With one token per page, it allocates single tokens.
 */
public final class PageAllocator {
  private static final byte FREE = 0;
  private static final byte IN_FLIGHT = 1;
  private static final byte CACHED = 2;
  private static final byte SESSION = 3;

  private final byte[] owner;
  private final int[] free;
  private final int pageTokens;
  private final IntConsumer onFree;
  private int freeCount;
  private int inFlightCount;
  private int sessionCount;

  /** Number of pages freed in the open group; in the array they follow the free pages. */
  private int groupCount;

  private boolean grouping;

  /** Creates an allocator of single tokens. */
  public PageAllocator(int pages, IntConsumer onFree) {
    this(pages, 1, onFree);
  }

  /**
   * @param pages size of the pool
   * @param pageTokens tokens per page
   * @param onFree receives each page that becomes free
   */
  public PageAllocator(int pages, int pageTokens, IntConsumer onFree) {
    this.pageTokens = pageTokens;
    this.owner = new byte[pages];
    this.free = new int[pages];
    this.onFree = onFree;
    for (int i = 0; i < pages; i++) {
      free[i] = pages - 1 - i;
    }
    freeCount = pages;
  }

  /** Returns the size of the pool. */
  public int total() {
    return owner.length;
  }

  /** Returns the number of tokens per page. */
  public int pageTokens() {
    return pageTokens;
  }

  /** Returns the number of pages without an owner. */
  public int free() {
    return freeCount;
  }

  /** Returns the number of pages that running requests own. */
  public int inFlight() {
    return inFlightCount;
  }

  /** Returns the number of pages that sessions own between turns. */
  public int session() {
    return sessionCount;
  }

  /** Returns the number of pages that the prefix cache owns. */
  public int cached() {
    return owner.length - freeCount - groupCount - inFlightCount - sessionCount;
  }

  /** Takes a free page for a request; returns -1 if no page is free. */
  public int allocate() {
    if (freeCount == 0) {
      return -1;
    }
    int page = free[--freeCount];
    free[freeCount] = free[freeCount + groupCount];
    owner[page] = IN_FLIGHT;
    inFlightCount++;
    return page;
  }

  /** Returns the number of pages that {@code tokens} tokens need; the last page may be partial. */
  public int pagesFor(int tokens) {
    return (tokens + pageTokens - 1) / pageTokens;
  }

  /**
   * Gives a request room for more tokens: first the rest of its last page, then new pages. If there
   * are not enough free pages, nothing changes.
   *
   * @param table the request's page table, which must be long enough
   * @param before tokens that the request has room for now
   * @param tokens tokens that the request must have room for afterwards
   * @return whether there were enough free pages
   */
  public boolean allocExtend(int[] table, int before, int tokens) {
    int first = pagesFor(before);
    int end = pagesFor(tokens);
    if (end - first > freeCount) {
      return false;
    }
    for (int i = first; i < end; i++) {
      table[i] = allocate();
    }
    return true;
  }

  /** Gives a request room for token {@code tokens}, counted from 1; see {@link #allocExtend}. */
  public boolean allocDecode(int[] table, int tokens) {
    return allocExtend(table, tokens - 1, tokens);
  }

  /** Pages freed from now on can be handed out again only after {@link #endFreeGroup}. */
  public void beginFreeGroup() {
    if (grouping) {
      throw new IllegalStateException("a group of frees is open already");
    }
    grouping = true;
  }

  /** Makes all pages that were freed since {@link #beginFreeGroup} available at the same time. */
  public void endFreeGroup() {
    if (!grouping) {
      throw new IllegalStateException("no group of frees is open");
    }
    grouping = false;
    freeCount += groupCount;
    groupCount = 0;
  }

  /** Returns whether the page has no owner. */
  boolean isFree(int page) {
    return owner[page] == FREE;
  }

  /** Returns whether a running request owns the page. */
  public boolean isInFlight(int page) {
    return owner[page] == IN_FLIGHT;
  }

  /**
   * Frees a page of a request or of the cache.
   *
   * @throws IllegalStateException if the page is already free
   */
  public void free(int page) {
    if (owner[page] == FREE) {
      throw new IllegalStateException("page " + page + " is freed twice");
    }
    if (owner[page] == IN_FLIGHT) {
      inFlightCount--;
    } else if (owner[page] == SESSION) {
      sessionCount--;
    }
    owner[page] = FREE;
    free[freeCount + groupCount] = page;
    if (grouping) {
      groupCount++;
    } else {
      freeCount++;
    }
    onFree.accept(page);
  }

  /** Passes a page from a request to the cache. */
  void cache(int page) {
    if (owner[page] != IN_FLIGHT) {
      throw new IllegalStateException("page " + page + " is not a running request's to cache");
    }
    owner[page] = CACHED;
    inFlightCount--;
  }

  /**
   * Passes a page from the cache to a {@link PageListener}, which still reads it and frees it
   * afterwards.
   */
  void keepInFlight(int page) {
    pass(page, CACHED, IN_FLIGHT);
    inFlightCount++;
  }

  /** Passes a page from a request to its session. */
  public void keepForSession(int page) {
    pass(page, IN_FLIGHT, SESSION);
    inFlightCount--;
    sessionCount++;
  }

  /** Passes a page from a session to its next request. */
  public void takeFromSession(int page) {
    pass(page, SESSION, IN_FLIGHT);
    sessionCount--;
    inFlightCount++;
  }

  private void pass(int page, byte from, byte to) {
    if (owner[page] != from) {
      throw new IllegalStateException("page " + page + " is passed on by another than its owner");
    }
    owner[page] = to;
  }

  /** Sets each page's owner to its real owner; see {@link PageAudit}. */
  int repair(boolean[] cached, boolean[] inFlight, boolean[] session) {
    int repaired = 0;
    freeCount = 0;
    groupCount = 0;
    inFlightCount = 0;
    sessionCount = 0;
    for (int page = owner.length - 1; page >= 0; page--) {
      byte actual = actual(cached[page], inFlight[page], session[page]);
      if (actual != owner[page]) {
        owner[page] = actual;
        repaired++;
      }
      if (actual == FREE) {
        free[freeCount++] = page;
      } else if (actual == IN_FLIGHT) {
        inFlightCount++;
      } else if (actual == SESSION) {
        sessionCount++;
      }
    }
    return repaired;
  }

  /** Returns whether the recorded owner of a page is the given one. */
  boolean agrees(int page, boolean cached, boolean inFlight, boolean session) {
    return owner[page] == actual(cached, inFlight, session);
  }

  private static byte actual(boolean cached, boolean inFlight, boolean session) {
    return cached ? CACHED : inFlight ? IN_FLIGHT : session ? SESSION : FREE;
  }
}
