package io.radixflow.operators.cache;

import java.util.function.IntConsumer;

/**
 * Hands out the pages of a pool and knows the owner of each: nobody (free), a running request (in
 * flight) or the radix tree (cached). The last page freed is the first handed out.
 */
public final class PageAllocator {
  private static final byte FREE = 0;
  private static final byte IN_FLIGHT = 1;
  private static final byte CACHED = 2;

  private final byte[] owner;
  private final int[] free;
  private final IntConsumer onFree;
  private int freeCount;
  private int inFlightCount;

  /**
   * @param pages size of the pool
   * @param onFree told of each page that becomes free
   */
  public PageAllocator(int pages, IntConsumer onFree) {
    this.owner = new byte[pages];
    this.free = new int[pages];
    this.onFree = onFree;
    for (int i = 0; i < pages; i++) {
      free[i] = pages - 1 - i;
    }
    freeCount = pages;
  }

  /** Size of the pool. */
  public int total() {
    return owner.length;
  }

  /** Pages without an owner. */
  public int free() {
    return freeCount;
  }

  /** Pages that running requests own. */
  public int inFlight() {
    return inFlightCount;
  }

  /** Pages that the tree owns. */
  public int cached() {
    return owner.length - freeCount - inFlightCount;
  }

  /** Takes a free page for a request, or returns -1. */
  public int allocate() {
    if (freeCount == 0) {
      return -1;
    }
    int page = free[--freeCount];
    owner[page] = IN_FLIGHT;
    inFlightCount++;
    return page;
  }

  /** Whether a running request owns the page. */
  public boolean isInFlight(int page) {
    return owner[page] == IN_FLIGHT;
  }

  /**
   * Frees a page of a request or of the tree.
   *
   * @throws IllegalStateException if it is free already
   */
  public void free(int page) {
    if (owner[page] == FREE) {
      throw new IllegalStateException("page " + page + " is freed twice");
    }
    if (owner[page] == IN_FLIGHT) {
      inFlightCount--;
    }
    owner[page] = FREE;
    free[freeCount++] = page;
    onFree.accept(page);
  }

  /** Passes a page from a request to the tree. */
  void cache(int page) {
    if (owner[page] != IN_FLIGHT) {
      throw new IllegalStateException("page " + page + " is not a running request's to cache");
    }
    owner[page] = CACHED;
    inFlightCount--;
  }

  /** Sets each page's owner anew, from who really has it; see {@link PageAudit}. */
  int repair(boolean[] cached, boolean[] inFlight) {
    int repaired = 0;
    freeCount = 0;
    inFlightCount = 0;
    for (int page = owner.length - 1; page >= 0; page--) {
      byte actual = cached[page] ? CACHED : inFlight[page] ? IN_FLIGHT : FREE;
      if (actual != owner[page]) {
        owner[page] = actual;
        repaired++;
      }
      if (actual == FREE) {
        free[freeCount++] = page;
      } else if (actual == IN_FLIGHT) {
        inFlightCount++;
      }
    }
    return repaired;
  }

  /** Whether the recorded owner of a page is the given one. */
  boolean agrees(int page, boolean cached, boolean inFlight) {
    return owner[page] == (cached ? CACHED : inFlight ? IN_FLIGHT : FREE);
  }
}
