package io.radixflow.engine.request;

import java.util.function.IntConsumer;

/**
 * The pages of a request whose window parts it has locked: the range {@code [from .. to)} of its
 * page table. While pages are being loaded, the range may have a gap. Only the package {@code
 * pages} changes it. Engine thread only.
 */
public final class RequestWindow {
  private int from;
  private int to;
  private int gapFrom;
  private int gapTo;
  private int reserved;
  private int foundPages;
  private int awaitedEnd;

  /**
   * Starts with the pages that the first query reaches.
   *
   * @param reserved parts that are reserved for the request
   * @param foundPages the end of the prefix that the request found, where other requests may
   *     continue
   */
  public void begin(int from, int to, int reserved, int foundPages) {
    this.from = from;
    this.to = to;
    this.reserved = reserved;
    this.foundPages = foundPages;
    awaitedEnd = 0;
    closeGap();
  }

  /** Adds the part of the next page. */
  public void grow() {
    to++;
  }

  /** Drops the part of the first page; returns the page's index. */
  public int dropFirst() {
    return from++;
  }

  /** Drops the last page; returns its index. It has no part if it is in the gap. */
  public int dropLast() {
    return --to;
  }

  /**
   * Adds the parts of pages that are being loaded, up to {@code end}.
   *
   * @param begin the first loaded page
   * @param gapEnd the first loaded page whose part is loaded too
   */
  public void load(int begin, int gapEnd, int end) {
    to = end;
    gapFrom = begin;
    gapTo = gapEnd;
    foundPages = end;
  }

  /** Drops the pages before the gap, and the gap. */
  public void skipGap() {
    from = gapTo;
    closeGap();
  }

  /** Forgets the gap. */
  public void closeGap() {
    gapFrom = 0;
    gapTo = 0;
  }

  /** Notes the end, in pages, of a prefix that another request awaits. */
  public void awaitEnd(int pages) {
    awaitedEnd = pages;
  }

  /** Releases all parts. */
  public void end() {
    from = 0;
    to = 0;
    reserved = 0;
    closeGap();
  }

  public int from() {
    return from;
  }

  public int to() {
    return to;
  }

  /** Returns the first page of the gap; 0 if there is none. */
  public int gapFrom() {
    return gapFrom;
  }

  public boolean hasGap() {
    return gapFrom != gapTo;
  }

  public boolean isInGap(int page) {
    return page >= gapFrom && page < gapTo;
  }

  /** Returns the number of parts that are reserved for the request. */
  public int reserved() {
    return reserved;
  }

  /** Returns the end, in pages, of a prefix that the request found. */
  public int foundPages() {
    return foundPages;
  }

  /** Returns the end, in pages, of a prefix that another request awaits; 0 if there is none. */
  public int awaitedEnd() {
    return awaitedEnd;
  }

  /** Visits the index in the page table of each page whose part is locked. */
  public void forEach(IntConsumer visitor) {
    for (int page = from; page < to; page++) {
      if (!isInGap(page)) {
        visitor.accept(page);
      }
    }
  }
}
