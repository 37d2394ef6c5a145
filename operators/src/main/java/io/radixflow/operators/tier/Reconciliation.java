package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens what is in a store's directory and makes the page directory agree with it, whichever of the
 * two is older: pages that only the files know are added, entries without a page are dropped. After
 * it, each page in a file is in the directory, or about to be destroyed; on that rests that a
 * removed page is nowhere.
 *
 * <p>Where the page directory has the {@link PageDirectory.Coverage} of a file that is still the
 * same, the file is read from the end of that on; other files are read whole, header by header.
 *
 * <p>Of a page that lies in several places, since a process died while it was copied, the last
 * written counts. Segments of another epoch or page size, and files without a right header, are
 * deleted: no one can use them, and they may hold what was to be erased; and so are those that
 * cannot be read.
 */
final class Reconciliation {
  private static final Logger LOG = LoggerFactory.getLogger(Reconciliation.class);
  private static final int BATCH = 1024;
  private static final int ATTEMPTS = 3;

  /**
   * A file of the store.
   *
   * @param mark null if it cannot be read
   * @param known what the directory has of it; null if it is to be read whole
   */
  private record Found(SegmentHeader header, Long mark, long size, PageDirectory.Coverage known) {
    /** Up to where the directory is believed. */
    long covered() {
      return known == null ? SegmentHeader.BYTES : known.end();
    }
  }

  private final SegmentFiles files;
  private final SegmentLog log;
  private final PageIndex index;
  private final Erasure erasure;
  private final boolean encrypted;
  private final TreeMap<Long, Found> found = new TreeMap<>();

  /**
   * Pages that were read from a segment.
   *
   * @param offsets ascending
   * @param digests the end of each one's digest, which tells enough
   */
  private record Places(long[] offsets, long[] digests) {
    boolean has(PageDirectory.Entry entry) {
      int at = Arrays.binarySearch(offsets, entry.offset());
      return at >= 0 && digests[at] == entry.page().id().d();
    }
  }

  /** What was read, by segment. */
  private final Map<Long, Places> places = new HashMap<>();

  private final List<PageDirectory.Entry> added = new ArrayList<>();

  /** Whether the directory has taken all that was found. */
  private boolean entered = true;

  /**
   * @param encrypted whether pages are to be; others are destroyed
   */
  Reconciliation(
      SegmentFiles files, SegmentLog log, PageIndex index, Erasure erasure, boolean encrypted) {
    this.files = files;
    this.log = log;
    this.index = index;
    this.erasure = erasure;
    this.encrypted = encrypted;
  }

  /**
   * Takes all segments of the epoch and page size.
   *
   * @throws IOException if the directory does not take all that was found: pages that it does not
   *     know could not be removed
   */
  void run(String epoch, int pageBytes) throws IOException {
    for (long number : files.list()) {
      log.used(number);
      find(number, epoch, pageBytes);
    }
    List.copyOf(found.values()).forEach(this::adopt);
    agree();
    index.directory().uncoverOthers(found.keySet());
    if (!entered) {
      throw new IOException("the page directory cannot be written: is there room on its disk?");
    }
    index.cover(log.segments().stream().filter(each -> places.containsKey(each.number())).toList());
  }

  private void find(long number, String epoch, int pageBytes) {
    Found file = tried(number, () -> read(number, epoch, pageBytes));
    if (file == null) {
      LOG.info("Segment {} is of another model or damaged, and is deleted", number);
      delete(number);
    } else {
      found.put(number, file);
    }
  }

  private interface Reading<T> {
    T run() throws IOException;
  }

  /** What is read; null if that fails several times. */
  private static <T> T tried(long number, Reading<T> reading) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        return reading.run();
      } catch (IOException e) {
        LOG.warn("Segment {} cannot be read", number, e);
      }
    }
    return null;
  }

  /** Null if it is none of the store's. */
  private Found read(long number, String epoch, int pageBytes) throws IOException {
    try (SegmentFile file = files.open(number)) {
      ByteBuffer bytes = ByteBuffer.allocate(SegmentHeader.BYTES);
      file.read(bytes, 0);
      SegmentHeader header = SegmentHeader.decode(bytes.flip());
      if (header == null
          || header.number() != number
          || !header.epoch().equals(epoch)
          || header.pageBytes() != pageBytes) {
        return null;
      }
      Long mark = SegmentMark.decode(bytes, header.stamp());
      return new Found(header, mark, file.size(), known(file, header, mark));
    }
  }

  /** What the directory has of a file if that is still what it was; else null. */
  private PageDirectory.Coverage known(SegmentFile file, SegmentHeader header, Long mark)
      throws IOException {
    PageDirectory.Coverage known = index.directory().coverage(header.number());
    return known != null
            && mark != null
            && known.mark() == mark
            && known.stamp() == header.stamp()
            && known.encrypted() == encrypted
            && known.end() <= file.size()
            && hasLast(file, header, known)
        ? known
        : null;
  }

  /** Whether the file has the last record that is known, and so those before it. */
  private static boolean hasLast(
      SegmentFile file, SegmentHeader header, PageDirectory.Coverage known) throws IOException {
    if (known.last() == 0) {
      return known.end() == SegmentHeader.BYTES;
    }
    ByteBuffer bytes = ByteBuffer.allocate(RecordHeader.BYTES);
    file.read(bytes, known.last());
    RecordHeader last = RecordHeader.decode(bytes.flip(), 0);
    return last != null
        && last.headerCheck() == known.lastCheck()
        && last.stamp() == header.stamp()
        && last.offset() == known.last()
        && last.offset() + last.recordBytes() == known.end();
  }

  private void delete(long number) {
    try {
      files.delete(number);
    } catch (IOException e) {
      erasure.add(() -> files.delete(number));
    }
  }

  private void adopt(Found each) {
    Segment segment = new Segment(files, each.header(), null, each.mark(), encrypted);
    if (each.known() != null) {
      segment.end(each.known().end(), each.known().last(), each.known().lastCheck());
    }
    if (each.known() != null && each.size() <= each.covered()) {
      log.adopt(segment);
      return;
    }
    SegmentScan scan = tried(segment.number(), () -> scan(each));
    if (scan == null) {
      LOG.info("Segment {} is deleted", segment.number());
      found.remove(segment.number());
      delete(segment.number());
      return;
    }
    if (!scan.records().isEmpty()) {
      RecordHeader last = scan.records().get(scan.records().size() - 1);
      segment.end(scan.end(), last.offset(), last.headerCheck());
    }
    log.adopt(segment);
    if (each.size() > scan.end()) {
      cut(segment, scan.end());
    }
    take(segment, scan);
  }

  private SegmentScan scan(Found each) throws IOException {
    try (SegmentFile file = files.open(each.header().number())) {
      return SegmentScan.from(file, each.header(), each.covered());
    }
  }

  private void take(Segment segment, SegmentScan scan) {
    List<RecordHeader> taken = new ArrayList<>();
    for (RecordHeader record : scan.records()) {
      if (record.page() == null) {
        hole(segment, record);
      } else if (record.encrypted() != encrypted) {
        destroy(segment, record.offset(), record.recordBytes());
      } else if (add(segment, record)) {
        taken.add(record);
      }
    }
    flush();
    places.put(
        segment.number(),
        new Places(
            taken.stream().mapToLong(RecordHeader::offset).toArray(),
            taken.stream().mapToLong(record -> record.page().id().d()).toArray()));
    for (SegmentScan.Damage damage : scan.damages()) {
      destroy(segment, damage.offset(), (int) damage.length());
    }
  }

  private void cut(Segment segment, long end) {
    try {
      SegmentLog.cut(segment, end);
    } catch (IOException | RuntimeException e) {
      LOG.warn("Segment {} is not cut after its last page yet", segment.number(), e);
      // what would be appended would be cut with it
      log.seal();
      erasure.add(() -> SegmentLog.cut(segment, end));
    }
  }

  private void hole(Segment segment, RecordHeader record) {
    if (record.erased()) {
      segment.addDead(record.recordBytes());
    } else {
      destroy(segment, record.offset(), record.recordBytes());
    }
  }

  private void destroy(Segment segment, long offset, int length) {
    if (offset >= found.get(segment.number()).covered()) {
      segment.addDead(length);
    }
    index.unsettle(segment);
    erasure.addRecord(segment, offset, length);
  }

  /**
   * Adds a page that was read; segments come in the order in which they were written.
   *
   * @return false if it is destroyed, as it was written again later
   */
  private boolean add(Segment segment, RecordHeader record) {
    PageDirectory.Entry known = index.get(record.page().id());
    if (known != null) {
      if (known.segment() == segment.number() && known.offset() == record.offset()) {
        return true;
      }
      if (isThere(known)) {
        if (known.segment() > segment.number()) {
          destroy(segment, record.offset(), record.recordBytes());
          return false;
        }
        destroy(log.get(known.segment()), known.offset(), known.length());
      }
    }
    added.add(
        new PageDirectory.Entry(
            record.page(), segment.number(), record.offset(), record.recordBytes(), record.time()));
    if (added.size() >= BATCH) {
      flush();
    }
    return true;
  }

  /** Whether the page is where the directory says, as far as files have been looked at. */
  private boolean isThere(PageDirectory.Entry entry) {
    Found file = found.get(entry.segment());
    if (file != null && file.known() != null && entry.offset() < file.covered()) {
      return true;
    }
    Places there = places.get(entry.segment());
    return there != null && there.has(entry);
  }

  private void flush() {
    entered &= index.directory().put(List.copyOf(added));
    added.clear();
  }

  /** Drops entries without a page, and takes note of the others. */
  private void agree() {
    List<PageId> stale = new ArrayList<>();
    Map<Long, Long> alive = new HashMap<>();
    index
        .directory()
        .forEach(
            entry -> {
              if (!isThere(entry)) {
                stale.add(entry.page().id());
                return;
              }
              index.marks().expected(entry.page());
              if (entry.offset() < found.get(entry.segment()).covered()) {
                alive.merge(entry.segment(), (long) entry.length(), Long::sum);
              }
            });
    index.directory().remove(stale);
    for (Found each : found.values()) {
      Segment segment = log.get(each.header().number());
      if (segment != null) {
        long live = alive.getOrDefault(segment.number(), 0L);
        segment.addDead(each.covered() - SegmentHeader.BYTES - live);
      }
    }
  }
}
