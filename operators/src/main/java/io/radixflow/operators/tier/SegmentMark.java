package io.radixflow.operators.tier;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * A number in the header of a segment file that becomes another one before a record in the file is
 * changed in place. So whoever knew the file before sees that it is not the same any more; see
 * {@link PageDirectory.Coverage}.
 */
final class SegmentMark {
  /** Where it is in the file; see {@link SegmentScan}. */
  static final int AT = 240;

  /** The mark of a new file. */
  static final long FIRST = 0;

  private static final int BYTES = Long.BYTES + Integer.BYTES;

  private SegmentMark() {}

  /** The bytes of a mark, ready to be written. */
  static ByteBuffer encode(long mark, long stamp) {
    return ByteBuffer.allocate(BYTES).putLong(mark).putInt(check(mark, stamp)).flip();
  }

  /** The mark in a file's header, or null if it has no right one. */
  static Long decode(ByteBuffer header, long stamp) {
    long mark = header.getLong(AT);
    return header.getInt(AT + Long.BYTES) == check(mark, stamp) ? mark : null;
  }

  private static int check(long mark, long stamp) {
    CRC32C crc = new CRC32C();
    crc.update(ByteBuffer.allocate(2 * Long.BYTES).putLong(mark).putLong(stamp).flip());
    return (int) crc.getValue();
  }
}
