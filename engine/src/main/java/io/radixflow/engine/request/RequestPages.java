package io.radixflow.engine.request;

import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.session.SessionPosition;
import io.radixflow.engine.tier.loadback.LoadBack;
import io.radixflow.engine.tier.page.PageChain;

/**
 * The pages of a request: the cached prefix that it found, its page table, and its pages in lower
 * tiers. Only the package {@code pages} changes it. Engine thread only, except that the intake
 * thread sets the position and the names.
 */
public final class RequestPages {
  /** The pages whose window parts the request has locked. */
  public final RequestWindow window = new RequestWindow();

  private SessionPosition.Known known = SessionPosition.Known.NOTHING;
  private PrefixMatch found;
  private PrefixMatch match;
  private long matchVersion;

  private int row = -1;
  private int count;
  private int cached;
  private TreeNode locked;

  private PageChain chain;
  private LoadBack loadBack;
  private int looks;

  // ---- the cached prefix

  /** Sets where its tokens continue what its session has cached. */
  public void know(SessionPosition.Known known) {
    this.known = known;
  }

  /**
   * Notes the cached prefix of the request.
   *
   * @param found the prefix in the tree
   * @param match the part of it that can be used
   * @param version of the tree at the look-up
   */
  public void find(PrefixMatch found, PrefixMatch match, long version) {
    this.found = found;
    this.match = match;
    this.matchVersion = version;
  }

  public SessionPosition.Known known() {
    return known;
  }

  /** Returns the cached prefix of which {@link #match} is the part that can be used. */
  public PrefixMatch found() {
    return found;
  }

  /** Returns the cached prefix as last looked up; null if it must be looked up from the start. */
  public PrefixMatch match() {
    return match;
  }

  /** Returns the version of the tree at the look-up of {@link #match}. */
  public long matchVersion() {
    return matchVersion;
  }

  // ---- its page table

  /**
   * Begins a page table.
   *
   * @param row index of the table among all tables
   * @param locked the node at the end of the shared pages
   * @param cached number of shared pages
   */
  public void begin(int row, TreeNode locked, int cached) {
    this.row = row;
    this.locked = locked;
    this.cached = cached;
    count = cached;
    match = null;
  }

  /** Sets the number of pages in the table. */
  public void grow(int pages) {
    count = pages;
  }

  /** Notes that the cache now owns pages of the table, and where their prefix ends in the tree. */
  public void commit(PrefixMatch end) {
    locked = end.node();
    cached = end.pages();
  }

  /** Ends the page table: the request has no pages. */
  public void end() {
    row = -1;
    count = 0;
    cached = 0;
    locked = null;
  }

  public boolean isHeld() {
    return row >= 0;
  }

  /** Returns the row of the page table; -1 if the request has no pages. */
  public int row() {
    return row;
  }

  /** Returns the number of pages in the table. */
  public int count() {
    return count;
  }

  /** Returns how many pages at the beginning of the table are in the cache. */
  public int cached() {
    return cached;
  }

  /** Returns the node up to which cached pages are locked. */
  public TreeNode locked() {
    return locked;
  }

  // ---- its pages in lower tiers

  /** Sets the names of its pages in lower tiers; null without tiers. */
  public void name(PageChain chain) {
    this.chain = chain;
  }

  /** Resets the count of look-ups in lower tiers. */
  public void lookAgain() {
    looks = 0;
  }

  /** Sets the load-back of its pages from lower tiers, or null; counts as a look-up. */
  public void look(LoadBack loadBack) {
    looks++;
    this.loadBack = loadBack;
  }

  /** Called when the load-back has ended or is not wanted. */
  public void endLoad() {
    loadBack = null;
  }

  /** Returns the names of its pages in lower tiers; null without tiers. */
  public PageChain chain() {
    return chain;
  }

  /** Returns the load-back of its pages from lower tiers, or null. */
  public LoadBack loadBack() {
    return loadBack;
  }

  /** Returns the number of look-ups in lower tiers. */
  public int looks() {
    return looks;
  }
}
