package io.radixflow.operators.tier;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Where the pages of a disk tier lie. Safe for several threads.
 *
 * <p>Nothing depends on its being right: what it says of a page is checked against the page's own
 * header, and it can be made anew from the segments.
 */
public interface PageDirectory extends AutoCloseable {

  /**
   * An entry.
   *
   * @param page what the page is
   * @param segment number of the segment file
   * @param offset of the page's header in it
   * @param length bytes from the header on, header included
   * @param used milliseconds of the clock when it was last written or read
   */
  record Entry(TierPage page, long segment, long offset, int length, long used) {}

  /**
   * What is known of a segment as a whole: up to {@code end}, the pages that its file has are those
   * that the directory has there, and no others; if the file still is what it was.
   *
   * @param segment number of the segment file
   * @param stamp of the file
   * @param mark that the file had; another one if it was changed in place since
   * @param encrypted whether its pages are
   * @param end of the last record
   * @param last offset of that record; 0 if there is none
   * @param lastCheck checksum in the header of that record
   */
  record Coverage(
      long segment, long stamp, long mark, boolean encrypted, long end, long last, int lastCheck) {}

  /** An entry, or null. */
  Entry get(PageId id);

  /**
   * The entries of {@code chain[from .. to-1]} up to the first that is missing.
   *
   * @param into gets them, by the same index
   * @return how many there are
   */
  int get(PageId[] chain, int from, int to, Entry[] into);

  /**
   * Adds or replaces entries and what is known of segments, all of it or nothing.
   *
   * @return false if that could not be done
   */
  boolean put(List<Entry> entries, List<Coverage> coverages);

  /** Adds or replaces entries alone. */
  default boolean put(List<Entry> entries) {
    return put(entries, List.of());
  }

  /** What is known of a segment as a whole, or null. */
  Coverage coverage(long segment);

  /** Forgets what is known of a segment as a whole. */
  void uncover(long segment);

  /** Forgets what is known of segments other than these as a whole. */
  void uncoverOthers(Set<Long> segments);

  /** Removes entries; of those that are not there, nothing. */
  void remove(List<PageId> pages);

  /**
   * Calls {@code visitor} with each entry, in no order; entries that change meanwhile may be left
   * out.
   */
  void forEach(Consumer<Entry> visitor);

  /** Number of entries, about. */
  long size();

  /** Removes all entries. */
  void clear();

  @Override
  void close();
}
