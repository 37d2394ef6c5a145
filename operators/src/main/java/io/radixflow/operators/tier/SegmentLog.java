package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The segments of a store, and the end of the last one, where pages are appended. Look-ups are safe
 * from all threads; what changes it is called with its monitor held.
 */
final class SegmentLog {

  /**
   * A page to be appended.
   *
   * @param header of which page, flags, length and check count
   * @param body to be written from its position to its limit
   */
  record Appended(RecordHeader header, ByteBuffer body) {}

  private static final Logger LOG = LoggerFactory.getLogger(SegmentLog.class);
  private static final int MAX_GATHERED = 256;
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(RecordHeader.ALIGNMENT);

  private final SegmentFiles files;
  private final String epoch;
  private final int pageBytes;
  private final long segmentBytes;
  private final LongSupplier clock;
  private final Erasure erasure;
  private final boolean encrypted;
  private final Random stamps = new Random();
  private final ConcurrentSkipListMap<Long, Segment> segments = new ConcurrentSkipListMap<>();
  private final ConcurrentLinkedQueue<Segment> sealed = new ConcurrentLinkedQueue<>();
  private final ByteBuffer headers = ByteBuffer.allocateDirect(MAX_GATHERED * RecordHeader.BYTES);
  private final ByteBuffer[] sources = new ByteBuffer[MAX_GATHERED * 3];
  private Segment active;
  private long lastNumber = -1;

  /**
   * @param encrypted whether pages are
   */
  SegmentLog(
      SegmentFiles files,
      String epoch,
      int pageBytes,
      long segmentBytes,
      LongSupplier clock,
      Erasure erasure,
      boolean encrypted) {
    this.files = files;
    this.encrypted = encrypted;
    this.erasure = erasure;
    this.epoch = epoch;
    this.pageBytes = pageBytes;
    this.segmentBytes = segmentBytes;
    this.clock = clock;
  }

  /** Takes a segment that was found; in order of numbers. Appending goes on in the last one. */
  void adopt(Segment segment) {
    segments.put(segment.number(), segment);
    active = segment.bytes() < segmentBytes ? segment : null;
    used(segment.number());
  }

  /** No new segment gets this number or a lower one. */
  void used(long number) {
    lastNumber = Math.max(lastNumber, number);
  }

  /** A segment, or null. */
  Segment get(long number) {
    return segments.get(number);
  }

  /** All segments, the oldest first. */
  Collection<Segment> segments() {
    return segments.values();
  }

  /** The segments that entries are in. */
  List<Segment> of(List<PageDirectory.Entry> entries) {
    return entries.stream()
        .map(PageDirectory.Entry::segment)
        .distinct()
        .map(segments::get)
        .toList();
  }

  /**
   * Says that nothing is left to be destroyed or repaired.
   *
   * @return the segments of which that was not so
   */
  List<Segment> settle() {
    return segments.values().stream().filter(Segment::settle).toList();
  }

  /** Segments from a number on that nothing is appended to, the oldest first. */
  synchronized List<Segment> sealedFrom(long number) {
    List<Segment> found = new ArrayList<>(segments.tailMap(number).values());
    found.remove(active);
    return found;
  }

  /** Bytes of all segments. */
  long bytes() {
    long sum = 0;
    for (Segment segment : segments.values()) {
      sum += segment.bytes();
    }
    return sum;
  }

  /**
   * Appends pages.
   *
   * @param placed gets an entry for each page that was written, also if a later one fails
   */
  void append(List<Appended> records, List<PageDirectory.Entry> placed) throws IOException {
    for (int from = 0; from < records.size(); ) {
      Segment segment = withRoomFor(records.get(from).header().recordBytes());
      from = gather(segment, records, from, placed);
    }
  }

  private Segment withRoomFor(int bytes) throws IOException {
    if (active != null && active.bytes() + bytes > segmentBytes) {
      seal();
    }
    if (active == null) {
      SegmentHeader header =
          new SegmentHeader(lastNumber + 1, stamps.nextLong(), epoch, pageBytes, clock.getAsLong());
      SegmentFile file = files.create(header);
      active = new Segment(files, header, file, SegmentMark.FIRST, encrypted);
      used(header.number());
      segments.put(header.number(), active);
    }
    return active;
  }

  /** Nothing more is appended to the last segment. */
  void seal() {
    if (active != null) {
      sealed.add(active);
      active = null;
    }
  }

  /** Full segments come to the device before much of them is lost with the power. */
  void forceSealed() {
    for (Segment segment = sealed.poll(); segment != null; segment = sealed.poll()) {
      try {
        SegmentFile file = segment.acquire();
        if (file != null) {
          try {
            file.force();
          } finally {
            segment.release();
          }
        }
      } catch (IOException e) {
        LOG.warn("Segment {} was not forced to the device", segment.number(), e);
      }
    }
  }

  private int gather(
      Segment segment, List<Appended> records, int from, List<PageDirectory.Entry> placed)
      throws IOException {
    long start = segment.bytes();
    long end = start;
    int to = from;
    int count = 0;
    List<PageDirectory.Entry> entries = new ArrayList<>();
    headers.clear();
    long now = clock.getAsLong();
    while (to < records.size()
        && to - from < MAX_GATHERED
        && end + records.get(to).header().recordBytes() <= segmentBytes) {
      RecordHeader header = records.get(to).header().at(end, segment.stamp(), now);
      int headerAt = headers.position();
      header.encode(headers);
      int padding = header.recordBytes() - RecordHeader.BYTES - header.length();
      sources[count++] = headers.slice(headerAt, RecordHeader.BYTES);
      sources[count++] = records.get(to).body().duplicate();
      sources[count++] = ZEROS.duplicate().limit(padding);
      entries.add(
          new PageDirectory.Entry(header.page(), segment.number(), end, header.recordBytes(), now));
      end += header.recordBytes();
      to++;
    }
    write(segment, count, start);
    int lastCheck = headers.getInt(headers.position() - Integer.BYTES);
    segment.end(end, entries.get(entries.size() - 1).offset(), lastCheck);
    placed.addAll(entries);
    return to;
  }

  private void write(Segment segment, int count, long start) throws IOException {
    SegmentFile file = segment.acquire();
    try {
      file.write(sources, count, start);
    } catch (IOException | RuntimeException e) {
      seal();
      cut(segment, file, start);
      throw e;
    } finally {
      segment.release();
      // nothing keeps the pages' memory reachable
      Arrays.fill(sources, 0, count, null);
    }
  }

  /** What was half written is taken away. */
  private void cut(Segment segment, SegmentFile file, long size) {
    try {
      file.truncate(size);
    } catch (IOException e) {
      erasure.add(() -> cut(segment, size));
    }
  }

  /** Cuts a segment, unless it is gone. */
  static void cut(Segment segment, long size) throws IOException {
    SegmentFile file = Erasure.acquire(segment);
    if (file != null) {
      try {
        file.truncate(size);
      } finally {
        segment.release();
      }
    }
  }

  /** Forgets a segment and deletes its file, later if that fails now. */
  void delete(Segment segment) {
    if (segment == active) {
      active = null;
    }
    sealed.remove(segment);
    segments.remove(segment.number());
    segment.retire();
    try {
      segment.delete();
    } catch (IOException e) {
      erasure.addFirst(segment::delete);
    }
  }
}
