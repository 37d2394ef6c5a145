package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What a segment file holds, found from the file alone: reads the headers, not the pages.
 *
 * <p>The format; all integers are big-endian:
 *
 * <pre>
 * file    header (256 bytes), records
 * header   0  8  "RFSEGMNT"
 *          8  4  version of the format, 2
 *         12  4  bytes of a page before encryption
 *         16  8  number of the segment, as in its name
 *         24  8  stamp, drawn at random
 *         32  8  milliseconds since 1970 when it was begun
 *         40  4  bytes of the numerics epoch's name
 *         44  n  the numerics epoch, UTF-8; then zeros
 *        236  4  CRC32C of bytes 0 to 235
 *        240  8  mark, another one before a record is changed in place
 *        248  4  CRC32C of the mark and the stamp
 * record   0  4  "RFPG"; a record begins at a multiple of 64
 *          4  4  flags: 1 has a parent, 2 encrypted, 4 hole, 8 erased hole
 *          8  4  bytes of the body
 *         12  4  CRC32C of the body
 *         16 32  digest of the page; zeros in a hole, as all up to 96
 *         48 32  digest of the page before it; zeros if there is none
 *         80  8  tenant
 *         88  8  milliseconds since 1970 when it was written here
 *         96  8  stamp of the file
 *        104  8  offset of this record in the file
 *        112  4  bytes of the namespace's published name
 *        116 64  that name, UTF-8; then zeros
 *        188  4  CRC32C of bytes 0 to 187
 *        192  n  body: the page, or what {@link TenantKeys} makes of it; zeros up to the next record
 * </pre>
 *
 * <p>Records are only appended. What changes in place: where a page was removed, its header becomes
 * that of a hole, and its body zeros; before that, the mark ({@link SegmentMark}).
 */
final class SegmentScan {

  /** A place in a file without a readable header. */
  record Damage(long offset, long length) {}

  private static final int WINDOW = 64 << 10;
  private static final int LARGE_RECORD = 8 << 10;
  private static final int SMALL_WINDOW = 512;

  private final SegmentFile file;
  private final SegmentHeader header;
  private final long size;
  private final List<RecordHeader> records = new ArrayList<>();
  private final List<Damage> damages = new ArrayList<>();
  private final ByteBuffer window = ByteBuffer.allocate(WINDOW);
  private long windowAt;
  private long end;

  private SegmentScan(SegmentFile file, SegmentHeader header, long from) throws IOException {
    this.end = from;
    this.file = file;
    this.header = header;
    this.size = file.size();
    window.limit(0);
  }

  /** The header of a file, or null if it has no right one. */
  static SegmentHeader header(SegmentFile file) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(SegmentHeader.BYTES);
    file.read(bytes, 0);
    return SegmentHeader.decode(bytes.flip());
  }

  /** Scans a file whose header was read. */
  static SegmentScan of(SegmentFile file, SegmentHeader header) throws IOException {
    return from(file, header, SegmentHeader.BYTES);
  }

  /** Scans the end of a file, from the beginning of a record on. */
  static SegmentScan from(SegmentFile file, SegmentHeader header, long from) throws IOException {
    SegmentScan scan = new SegmentScan(file, header, from);
    scan.run();
    return scan;
  }

  /** Headers of whole records in order of the file, holes among them. */
  List<RecordHeader> records() {
    return records;
  }

  /** Places before {@link #end} that hold no readable record. */
  List<Damage> damages() {
    return damages;
  }

  /** Where the last whole record ends; what follows is of no use. */
  long end() {
    return end;
  }

  private void run() throws IOException {
    int last = 0;
    for (long at = end; at + RecordHeader.BYTES <= size; ) {
      RecordHeader record = at(at, last > LARGE_RECORD ? SMALL_WINDOW : WINDOW);
      if (record == null) {
        at = resync(at + RecordHeader.ALIGNMENT);
        continue;
      }
      if (at > end) {
        damages.add(new Damage(end, at - end));
      }
      records.add(record);
      last = record.recordBytes();
      at += last;
      end = at;
    }
  }

  /** The next place from {@code at} on where a whole record begins; the end of the file if none. */
  private long resync(long at) throws IOException {
    for (long next = at; next + RecordHeader.BYTES <= size; next += RecordHeader.ALIGNMENT) {
      if (at(next, WINDOW) != null) {
        return next;
      }
    }
    return size;
  }

  private RecordHeader at(long at, int bytes) throws IOException {
    if (at < windowAt || at + RecordHeader.BYTES > windowAt + window.limit()) {
      window.clear().limit(bytes);
      windowAt = at;
      file.read(window, at);
      window.flip();
    }
    RecordHeader record = RecordHeader.decode(window, (int) (at - windowAt));
    return record != null
            && record.offset() == at
            && record.stamp() == header.stamp()
            && record.length() <= size - at
            && at + record.recordBytes() <= size
        ? record
        : null;
  }
}
