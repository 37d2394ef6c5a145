package io.radixflow.engine.tier.loadback;

import io.radixflow.engine.tier.host.HostPage;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.ArrayList;
import java.util.List;

/**
 * Pages of one prefix on their way up: for a waiting request to the device, for an announced turn
 * to host memory only. It holds locks on its pages in host memory until it ends. All transitions
 * happen on the engine thread; the work between them runs on the threads that the drawing names.
 *
 * <pre>
 *                    NEW        an announced turn stays here while others fill its share of host memory
 *                     |
 *                     |  begin: a store is worth asking
 *                     v
 *    +------------&gt; ASKING      READ thread: how many pages does this store have?
 *    |                |
 *    |                v         is the next page neither in host memory nor on its way there?
 *    |        +----&gt; (?) &lt;--------------+-------------------+
 *    |        |   yes | no              |                   |
 *    |        |       +----&gt; SHARING ---+ poll: it is there |
 *    |        |       |                                     |
 *    |        |       +----&gt; VERIFYING ---------------------+  CHECK thread: checksums of pages
 *    |        |                                             |  that came for another load-back
 *    |        +------------&gt; READING -----------------------+  READ thread: a batch of pages
 *    |                        |
 *    +-- this store has no ---+ no page is left that a store has, host memory has no room,
 *        more pages, but            or the store was detached
 *        one below it may           |
 *                                   v
 *                                 READY       all that will come is in host memory, locked
 *
 *    each but NEW ---- admission: copy ------&gt; COPYING    DMA: host pages to the request's own pages
 *    COPYING --------- the copy has ended ----&gt; ENDED
 *    each but COPYING - release -------------&gt; ENDED      locks are released; a batch being read
 *                                                         still arrives and stays in host memory
 * </pre>
 *
 * <p>If the pool has window parts, a store is also asked for the parts, and only up to an end that
 * can be used. The parts come after the pages, in the states READING, SHARING and VERIFYING, and
 * only if they are needed before that end. If a part is missing or damaged, the store is asked once
 * more for a shorter prefix.
 *
 * <p>During the states before READY, the CHECK thread verifies the pages that host memory had from
 * the start ({@link #isVerified}); the request waits for both. Under a policy that does not wait, a
 * request is admitted from any state after NEW, with the pages that have arrived by then.
 */
public final class LoadBack {

  /** The states of a load-back; see the drawing at {@link LoadBack}. */
  enum State {
    /** No store has been asked yet. */
    NEW,
    /** A store is being asked how many of the pages it has. */
    ASKING,
    /** A batch of pages is being read from a store. */
    READING,
    /** The next page is on its way to host memory for another load-back. */
    SHARING,
    /** Pages that came for another load-back are being verified. */
    VERIFYING,
    /** All pages that will come from the stores are in host memory. */
    READY,
    /** Pages are being copied to the device, or will be before the next step. */
    COPYING,
    /** The load-back no longer has locks. */
    ENDED;

    /** Returns whether pages may still come from the stores. */
    boolean isReadingStores() {
      return this == ASKING || this == READING || this == SHARING || this == VERIFYING;
    }

    /** Returns whether there is an arrow to another state. */
    boolean mayBecome(State next) {
      return switch (next) {
        case NEW -> false;
        case ASKING -> this == NEW || isReadingStores();
        case READING, SHARING, VERIFYING -> isReadingStores();
        case READY -> this == NEW || isReadingStores();
        case COPYING -> this == READY || isReadingStores();
        case ENDED -> this != ENDED;
      };
    }
  }

  final PageChain chain;

  private final LoadBacks owner;

  /** The first page that neither the device nor, for an announced turn, host memory has. */
  int from;

  /** End of the useful pages. */
  int limit;

  /** Runs when the load-back of an announced turn has ended by itself; null for a request. */
  final Runnable onEnd;

  /** When the load-back began, in nanoseconds. */
  final long began;

  /**
   * Pages from {@link #from} on, locked: first pages found in host memory, then pages of the
   * stores.
   */
  final List<HostPage> pages = new ArrayList<>();

  /** The window parts of the load-back's pages. */
  LoadedWindows windows;

  /** A page whose part {@link #store} lacks, so that no end beyond it can be used. */
  int windowLimit = Integer.MAX_VALUE;

  /** The store that is being asked or read, or was asked last. */
  PageStore store;

  /**
   * The topmost store when the load-back began; if the engine now has another, this one was
   * detached.
   */
  PageStore top;

  /** When {@link #store} was asked, in nanoseconds. */
  long askedAt;

  /** End of the pages that {@link #store} has, as far as is known. */
  int storeEnd;

  private State state = State.NEW;
  private int found;
  private int verified;

  /** Verifications in progress. */
  private int verifying;

  private int read;

  /**
   * The number of {@link #read} pages by tier; pages of an upper tier come before pages of a lower
   * tier.
   */
  private final int[] readOf = new int[KvTier.values().length];

  private long nanos;
  private int copiedFrom = -1;
  private int copied;
  private Throwable failure;

  LoadBack(LoadBacks owner, PageChain chain, int from, int limit, Runnable onEnd, long began) {
    this.owner = owner;
    this.chain = chain;
    this.from = from;
    this.limit = limit;
    this.onEnd = onEnd;
    this.began = began;
  }

  /**
   * Returns whether the request has to wait for pages.
   *
   * @param devicePages number of pages of the request's prefix that the device has now
   */
  public boolean mustWait(int devicePages) {
    return owner.mustWait(this, devicePages);
  }

  /**
   * Adds the pages whose load is faster than their computation to the next copy.
   *
   * @param devicePages pages of the prefix that the device has
   * @param table the request's page table, whose pages {@code devicePages .. end-1} are its own
   * @return how many pages after those are copied; if 0, the load-back must still be released
   */
  public int copy(int devicePages, int end, int[] table) {
    return owner.copy(this, devicePages, end, table);
  }

  /**
   * Ends the load-back, unless its pages are being copied; then it ends after the copy. Idempotent.
   */
  public void release() {
    owner.release(this);
  }

  State state() {
    return state;
  }

  void to(State next) {
    if (!state.mayBecome(next)) {
      throw new IllegalStateException("a load-back that is " + state + " cannot become " + next);
    }
    state = next;
  }

  boolean isAnnounced() {
    return onEnd != null;
  }

  /** Takes pages of host memory. The caller has locked them, and now verifies them. */
  void found(List<HostPage> locked) {
    pages.addAll(locked);
    found = locked.size();
  }

  /** Records that a verification of pages in host memory has begun. */
  void verifies() {
    verifying++;
  }

  /** Records that a verification ended at {@code now}, in nanoseconds. */
  void verifiedAt(long now) {
    verifying--;
    progressed(now);
  }

  /** Records that the found pages have been verified; the first {@code good} of them are right. */
  void verified(int good) {
    verified = good;
  }

  /** Returns whether the pages found in host memory have been verified. */
  boolean isVerified() {
    return verifying == 0;
  }

  /** Takes the next page, which came from {@link #store}. The caller has locked it. */
  void add(HostPage page) {
    pages.add(page);
    read++;
    readOf[store.tier().ordinal()]++;
  }

  /** Returns the number of pages that came from the stores. */
  int readPages() {
    return read;
  }

  /** Returns the end of the found and read pages. */
  int end() {
    return from + found + read;
  }

  /** Returns whether all pages of the chain that the stores have are in host memory. */
  boolean isWhole() {
    return state != State.NEW
        && !state.isReadingStores()
        && end() >= storeEnd
        && (end() < limit || end() >= chain.pages());
  }

  /** Returns the end of the pages that can be copied now. */
  int usableEnd() {
    if (verifying > 0) {
      return from;
    }
    return verified < found ? from + verified : end();
  }

  /** Records that something arrived at {@code now}, in nanoseconds. */
  void progressed(long now) {
    nanos = now - began;
  }

  /** Records that pages {@code first .. first+count-1} are copied to the device. */
  void copying(int first, int count) {
    to(State.COPYING);
    copiedFrom = first;
    copied = count;
  }

  /** Records that the copy to the device failed. */
  void failed(Throwable cause) {
    failure = cause;
  }

  /** Returns the first page that the device did not have when the load-back began. */
  public int from() {
    return from;
  }

  /**
   * Returns whether a request was admitted with these pages, which are being copied or have been
   * copied.
   */
  public boolean isCopied() {
    return copiedFrom >= 0;
  }

  /** Returns the first page that was copied to the device; -1 before the copy. */
  public int copiedFrom() {
    return copiedFrom;
  }

  /** Returns whether the pages are on their way to the device. */
  public boolean isCopying() {
    return state == State.COPYING;
  }

  /** Returns why the pages did not reach the device, or null. */
  public Throwable failure() {
    return failure;
  }

  /** Returns how many of the pages copied to the device came from a tier. */
  public int copiedPages(KvTier tier) {
    int hostEnd = from + found;
    int diskEnd = hostEnd + readOf[KvTier.DISK.ordinal()];
    return switch (tier) {
      case DEVICE -> 0;
      case HOST -> copiedWithin(from, hostEnd);
      case DISK -> copiedWithin(hostEnd, diskEnd);
      case REMOTE -> copiedWithin(diskEnd, diskEnd + readOf[KvTier.REMOTE.ordinal()]);
    };
  }

  private int copiedWithin(int begin, int end) {
    return Math.max(0, Math.min(copiedFrom + copied, end) - Math.max(copiedFrom, begin));
  }

  /** Returns the microseconds spent on finding, verifying and reading pages. */
  public long micros() {
    return nanos / 1000;
  }
}
