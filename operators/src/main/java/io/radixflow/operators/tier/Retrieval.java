package io.radixflow.operators.tier;

import io.radixflow.operators.record.KvTier;
import java.util.ArrayList;
import java.util.List;

/**
 * What one waiting request may get from below the device: pages of its prefix in host memory,
 * locked and verified, and those on their way there from the store. Owned by the engine thread.
 */
public final class Retrieval {
  final PageChain chain;

  /** End of the pages that are of use. */
  final int limit;

  /** The first page that the device did not have. */
  final int from;

  /** Pages from {@link #from} on, locked. */
  final List<HostEntry> entries = new ArrayList<>();

  /** How many of the entries were in host memory from the start. */
  int found;

  /** How many of those have been verified, once they have been looked at. */
  int verified;

  boolean checking;

  /** Whether pages are being asked of the store, and when that began. */
  boolean fetching;

  long fetchedSince;

  /** The end of the pages that the store has, as far as is known. */
  int fetchEnd;

  /** Pages that came from the stores, behind those found. */
  int fetched;

  /** Of those, how many came from which tier; the upper one's are before the lower one's. */
  final int[] fetchedOf = new int[KvTier.values().length];

  /** Nanoseconds from the first look to the pages' being there. */
  long nanos;

  long began;

  /** Whether nobody waits for it any more; what is under way ends on its own. */
  boolean ended;

  /** Whether its pages are being copied to the device. */
  boolean loading;

  int loadedFrom;
  int loaded;
  Throwable failure;

  /** The store that is being asked, or was last. */
  PageStore store;

  Retrieval(PageChain chain, int from, int limit) {
    this.chain = chain;
    this.from = from;
    this.limit = limit;
  }

  /** The first page that the device did not have when it was looked for. */
  public int from() {
    return from;
  }

  /** Whether its pages are on their way to the device. */
  public boolean isLoading() {
    return loading;
  }

  /** Why its pages did not come to the device, or null. */
  public Throwable failure() {
    return failure;
  }

  /** Of the loaded pages, those of a tier. */
  public int loadedPages(KvTier tier) {
    int hostEnd = from + found;
    int diskEnd = hostEnd + fetchedOf[KvTier.DISK.ordinal()];
    return switch (tier) {
      case DEVICE -> 0;
      case HOST -> loadedWithin(from, hostEnd);
      case DISK -> loadedWithin(hostEnd, diskEnd);
      case REMOTE -> loadedWithin(diskEnd, diskEnd + fetchedOf[KvTier.REMOTE.ordinal()]);
    };
  }

  private int loadedWithin(int begin, int end) {
    return Math.max(0, Math.min(loadedFrom + loaded, end) - Math.max(loadedFrom, begin));
  }

  /** Microseconds that were spent on finding, verifying and reading pages. */
  public long micros() {
    return nanos / 1000;
  }

  /** The first page after those that can be loaded. */
  int usableEnd() {
    if (checking) {
      return from;
    }
    return from + (verified < found ? verified : found + fetched);
  }
}
