package io.radixflow.operators.tier;

import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a disk store knows of its pages: the directory, and the marks that eviction goes by, which
 * change together. Reads are safe from all threads; changes are made under the lock of the {@link
 * SegmentLog}.
 */
final class PageIndex {
  private static final Logger LOG = LoggerFactory.getLogger(PageIndex.class);

  private final PageDirectory directory;
  private final PageMarks marks = new PageMarks();

  PageIndex(PageDirectory directory) {
    this.directory = directory;
  }

  PageDirectory directory() {
    return directory;
  }

  PageMarks marks() {
    return marks;
  }

  PageDirectory.Entry get(PageId id) {
    return directory.get(id);
  }

  /** Whether the page is where the entry says. */
  boolean isAt(PageDirectory.Entry entry) {
    return isAt(entry.page().id(), entry.segment(), entry.offset());
  }

  /** Whether the page is at this place. */
  boolean isAt(PageId id, long segment, long offset) {
    PageDirectory.Entry now = directory.get(id);
    return now != null && now.segment() == segment && now.offset() == offset;
  }

  /**
   * Pages at new places, the last that were appended; their marks are told apart from this.
   *
   * @param segments where they are
   * @return false if the directory did not take them: then they must not stay there
   */
  boolean place(List<PageDirectory.Entry> entries, Collection<Segment> segments) {
    return directory.put(entries, coverages(segments));
  }

  /** All pages of these segments are in the directory, as far as that can be told. */
  void cover(Collection<Segment> segments) {
    directory.put(List.of(), coverages(segments));
  }

  private static List<PageDirectory.Coverage> coverages(Collection<Segment> segments) {
    return segments.stream().map(Segment::coverage).filter(Objects::nonNull).toList();
  }

  /** A segment has, or will have, pages that the directory has not, until it is settled. */
  void unsettle(Segment segment) {
    if (!segment.unsettle()) {
      return;
    }
    try {
      directory.uncover(segment.number());
    } catch (UncheckedIOException e) {
      LOG.warn("The page directory does not forget segment {}", segment.number(), e);
    }
  }

  /**
   * Pages that are there no longer. Should the directory not forget them, they are dropped again
   * when they are next missed.
   */
  void drop(List<TierPage> pages) {
    try {
      directory.remove(pages.stream().map(TierPage::id).toList());
    } catch (UncheckedIOException e) {
      LOG.warn("The page directory keeps entries of {} pages that are gone", pages.size(), e);
    }
    pages.forEach(marks::dropped);
  }

  /** As {@link #drop}, of all pages. */
  void clear() {
    try {
      directory.clear();
    } catch (UncheckedIOException e) {
      LOG.warn("The page directory keeps entries of all pages, which are gone", e);
    }
    marks.clear();
  }
}
