package io.radixflow.operators.tier;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * The first {@link #BYTES} bytes of a segment file; see {@link SegmentScan} for the format.
 *
 * @param number of the file; a higher one was begun later
 * @param stamp drawn at random for the file, and repeated in each of its records, so that no record
 *     of another file is taken for one of this
 * @param epoch numerics epoch of all its pages
 * @param pageBytes bytes of a page, before encryption
 * @param created milliseconds of the clock
 */
public record SegmentHeader(long number, long stamp, String epoch, int pageBytes, long created) {
  public static final int BYTES = 256;

  private static final long MAGIC = 0x5246_5345_474D_4E54L; // "RFSEGMNT"
  private static final int VERSION = 2;
  private static final int EPOCH_AT = 44;
  private static final int CHECK_AT = SegmentMark.AT - Integer.BYTES;
  private static final int MAX_EPOCH = CHECK_AT - EPOCH_AT;

  public SegmentHeader {
    int length = epoch.getBytes(StandardCharsets.UTF_8).length;
    if (length > MAX_EPOCH) {
      throw new IllegalArgumentException("a numerics epoch of " + length + " bytes");
    }
  }

  /** The bytes of a new file, ready to be written. */
  ByteBuffer encode() {
    ByteBuffer out = ByteBuffer.allocate(BYTES);
    byte[] name = epoch.getBytes(StandardCharsets.UTF_8);
    out.putLong(MAGIC).putInt(VERSION).putInt(pageBytes).putLong(number).putLong(stamp);
    out.putLong(created).putInt(name.length).put(name);
    out.putInt(CHECK_AT, check(out));
    out.position(SegmentMark.AT);
    out.put(SegmentMark.encode(SegmentMark.FIRST, stamp));
    return out.clear();
  }

  private static int check(ByteBuffer header) {
    CRC32C crc = new CRC32C();
    crc.update(header.duplicate().clear().limit(CHECK_AT));
    return (int) crc.getValue();
  }

  /** The header in {@code in[0 .. BYTES-1]}, or null if there is no right one. */
  static SegmentHeader decode(ByteBuffer in) {
    if (in.limit() < BYTES
        || in.getLong(0) != MAGIC
        || in.getInt(CHECK_AT) != check(in)
        || in.getInt(8) != VERSION) {
      return null;
    }
    int length = in.getInt(40);
    if (length < 0 || length > MAX_EPOCH) {
      return null;
    }
    byte[] name = new byte[length];
    in.get(EPOCH_AT, name);
    String epoch = new String(name, StandardCharsets.UTF_8);
    return new SegmentHeader(in.getLong(16), in.getLong(24), epoch, in.getInt(12), in.getLong(32));
  }
}
