package io.radixflow.operators.tier;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * What stands before each page in a segment; see {@link SegmentScan} for the format.
 *
 * @param page what the page is; null if there is none any more
 * @param flags of {@link #ENCRYPTED}, {@link #HOLE} and {@link #ERASED}
 * @param length bytes of the body that follows
 * @param check CRC32C of the body; 0 without a page
 * @param time milliseconds of the clock when it was written here
 * @param stamp of the file
 * @param offset of this header in the file
 */
public record RecordHeader(
    TierPage page, int flags, int length, int check, long time, long stamp, long offset) {
  static final int BYTES = 192;

  /** Records begin at multiples of this. */
  static final int ALIGNMENT = 64;

  /** The body is encrypted. */
  static final int ENCRYPTED = 2;

  /** There was a page; its bytes are to be destroyed. */
  static final int HOLE = 4;

  /** There was a page; the body is zeros. */
  static final int ERASED = 8;

  /** A published name has at most this many bytes. */
  static final int MAX_NAMESPACE = 64;

  static final int MAGIC = 0x5246_5047; // "RFPG"

  private static final int HAS_PARENT = 1;
  private static final int NAMESPACE_AT = 116;
  private static final int CHECK_AT = BYTES - Integer.BYTES;
  private static final PageId NONE = new PageId(0, 0, 0, 0);

  /** Of a place where a page was. */
  static RecordHeader hole(long offset, int length, long stamp, boolean erased) {
    return new RecordHeader(null, erased ? ERASED : HOLE, length, 0, 0, stamp, offset);
  }

  /** Bytes of the whole record with a body of that many bytes. */
  public static int recordBytes(int body) {
    return Math.addExact(BYTES, body) + ALIGNMENT - 1 & -ALIGNMENT;
  }

  /** Bytes up to where the next record begins. */
  public int recordBytes() {
    return recordBytes(length);
  }

  boolean encrypted() {
    return (flags & ENCRYPTED) != 0;
  }

  boolean erased() {
    return (flags & ERASED) != 0;
  }

  /** This header for a copy of the record at another place. */
  RecordHeader at(long newOffset, long newStamp, long newTime) {
    return new RecordHeader(page, flags, length, check, newTime, newStamp, newOffset);
  }

  /** The checksum of this header itself, as {@link #encode} writes it. */
  int headerCheck() {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES);
    encode(bytes);
    return bytes.getInt(CHECK_AT);
  }

  /** Writes {@link #BYTES} to {@code out} from its position on. */
  void encode(ByteBuffer out) {
    int at = out.position();
    PageId parent = page == null ? null : page.parent();
    byte[] namespace =
        page == null ? new byte[0] : page.namespace().getBytes(StandardCharsets.UTF_8);
    out.putInt(MAGIC).putInt(parent == null ? flags : flags | HAS_PARENT).putInt(length);
    out.putInt(check);
    put(out, page == null ? NONE : page.id());
    put(out, parent == null ? NONE : parent);
    out.putLong(page == null ? 0 : page.tenant()).putLong(time).putLong(stamp).putLong(offset);
    out.putInt(namespace.length).put(namespace);
    while (out.position() < at + CHECK_AT) {
      out.put((byte) 0);
    }
    out.putInt(check(out, at));
  }

  private static void put(ByteBuffer out, PageId id) {
    out.putLong(id.a()).putLong(id.b()).putLong(id.c()).putLong(id.d());
  }

  private static PageId id(ByteBuffer in, int at) {
    return new PageId(in.getLong(at), in.getLong(at + 8), in.getLong(at + 16), in.getLong(at + 24));
  }

  private static int check(ByteBuffer bytes, int at) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.duplicate().limit(at + CHECK_AT).position(at));
    return (int) crc.getValue();
  }

  /** The header at {@code in[at .. at+BYTES-1]}, or null if there is no right one. */
  static RecordHeader decode(ByteBuffer in, int at) {
    if (at + BYTES > in.limit()
        || in.getInt(at) != MAGIC
        || in.getInt(at + CHECK_AT) != check(in, at)) {
      return null;
    }
    int flags = in.getInt(at + 4);
    int length = in.getInt(at + 8);
    int named = in.getInt(at + 112);
    if (length < 0 || named < 0 || named > MAX_NAMESPACE) {
      return null;
    }
    TierPage page = null;
    if ((flags & (HOLE | ERASED)) == 0) {
      byte[] namespace = new byte[named];
      in.get(at + NAMESPACE_AT, namespace);
      page =
          new TierPage(
              id(in, at + 16),
              (flags & HAS_PARENT) == 0 ? null : id(in, at + 48),
              new String(namespace, StandardCharsets.UTF_8),
              in.getLong(at + 80));
    }
    return new RecordHeader(
        page,
        flags & ~HAS_PARENT,
        length,
        in.getInt(at + 12),
        in.getLong(at + 88),
        in.getLong(at + 96),
        in.getLong(at + 104));
  }
}
