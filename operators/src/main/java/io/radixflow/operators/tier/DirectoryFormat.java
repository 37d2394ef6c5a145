package io.radixflow.operators.tier;

import io.radixflow.operators.cache.key.PageHasher;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Keys and values of a {@link RocksDbDirectory}.
 *
 * <p>A page's key is its digest, 32 bytes. Its value, numbers big-endian, varints with 7 bits a
 * byte, the lowest first:
 *
 * <pre>
 * byte      version, 1
 * byte      flags: 1 has a parent, 2 the namespace's name is 16 bytes, 4 it is other text, 8 has a tenant
 * 32 bytes  the parent's digest                   if flag 1
 * 16 bytes  the namespace's name                  if flag 2
 * varint, n bytes  length and UTF-8 of the name   if flag 4
 * 8 bytes   the tenant                            if flag 8
 * varints   segment, offset, length, used
 * </pre>
 *
 * <p>Shorter keys are of the directory itself: {@link #COUNT} has the number of pages, {@link
 * #coverage} of a segment what is known of it as a whole, numbers big-endian:
 *
 * <pre>
 * byte      version, 1
 * byte      flags: 1 encrypted
 * 8 bytes   each: stamp, mark, end, offset of the last record
 * 4 bytes   checksum in that record's header
 * </pre>
 */
final class DirectoryFormat {
  static final byte[] COUNT = {0};

  /** Comes after all keys. */
  static final byte[] AFTER_ALL = new byte[PageHasher.BYTES + 1];

  static {
    Arrays.fill(AFTER_ALL, (byte) -1);
  }

  private static final byte VERSION = 1;
  private static final byte COVERED = 1;
  private static final int ENCRYPTED = 1;
  private static final int COVERAGE_BYTES = 2 + 4 * Long.BYTES + Integer.BYTES;

  /** All keys of segments lie between this and {@link #AFTER_SEGMENTS}, and some of pages. */
  static final byte[] SEGMENTS = {COVERED};

  static final byte[] AFTER_SEGMENTS = {COVERED + 1};

  private static final int PARENT = 1;
  private static final int SHORT_NAME = 2;
  private static final int LONG_NAME = 4;
  private static final int TENANT = 8;
  private static final int SHORT_NAME_BYTES = 16;
  private static final int MAX_VARINT_BYTES = 10;
  private static final HexFormat HEX = HexFormat.of();

  private DirectoryFormat() {}

  static byte[] key(PageId id) {
    byte[] key = new byte[PageHasher.BYTES];
    id.copyTo(key, 0);
    return key;
  }

  /** Whether a key is a page's. */
  static boolean isPage(byte[] key) {
    return key.length == PageHasher.BYTES;
  }

  /** The key of what is known of a segment as a whole. */
  static byte[] coverage(long segment) {
    return ByteBuffer.allocate(1 + Long.BYTES).put(COVERED).putLong(segment).array();
  }

  static byte[] encode(PageDirectory.Coverage coverage) {
    return ByteBuffer.allocate(COVERAGE_BYTES)
        .put(VERSION)
        .put((byte) (coverage.encrypted() ? ENCRYPTED : 0))
        .putLong(coverage.stamp())
        .putLong(coverage.mark())
        .putLong(coverage.end())
        .putLong(coverage.last())
        .putInt(coverage.lastCheck())
        .array();
  }

  /** What is known of a segment, or null if the value is not of this format. */
  static PageDirectory.Coverage coverage(long segment, byte[] value) {
    if (value == null || value.length != COVERAGE_BYTES || value[0] != VERSION) {
      return null;
    }
    ByteBuffer in = ByteBuffer.wrap(value, 1, value.length - 1);
    boolean encrypted = (in.get() & ENCRYPTED) != 0;
    return new PageDirectory.Coverage(
        segment, in.getLong(), in.getLong(), encrypted, in.getLong(), in.getLong(), in.getInt());
  }

  /** The segment of such a key; -1 if it is another key. */
  static long segmentOf(byte[] key) {
    return key.length == 1 + Long.BYTES && key[0] == COVERED
        ? ByteBuffer.wrap(key, 1, Long.BYTES).getLong()
        : -1;
  }

  static byte[] number(long value) {
    return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
  }

  /** The number in a value; 0 if there is none. */
  static long number(byte[] value) {
    return value == null || value.length != Long.BYTES ? 0 : ByteBuffer.wrap(value).getLong();
  }

  static byte[] encode(PageDirectory.Entry entry) {
    TierPage page = entry.page();
    boolean shortName = isShort(page.namespace());
    byte[] name =
        shortName
            ? HEX.parseHex(page.namespace())
            : page.namespace().getBytes(StandardCharsets.UTF_8);
    int flags =
        (page.parent() == null ? 0 : PARENT)
            | (shortName ? SHORT_NAME : name.length == 0 ? 0 : LONG_NAME)
            | (page.tenant() == 0 ? 0 : TENANT);
    ByteBuffer out =
        ByteBuffer.allocate(2 + PageHasher.BYTES + name.length + Long.BYTES + 5 * MAX_VARINT_BYTES);
    out.put(VERSION).put((byte) flags);
    if (page.parent() != null) {
      page.parent().copyTo(out.array(), out.position());
      out.position(out.position() + PageHasher.BYTES);
    }
    if ((flags & LONG_NAME) != 0) {
      putVarint(out, name.length);
    }
    out.put(name);
    if (page.tenant() != 0) {
      out.putLong(page.tenant());
    }
    putVarint(out, entry.segment());
    putVarint(out, entry.offset());
    putVarint(out, entry.length());
    putVarint(out, entry.used());
    byte[] value = new byte[out.position()];
    out.flip().get(value);
    return value;
  }

  /** The entry of a key and its value, or null if they are not of this format. */
  static PageDirectory.Entry decode(byte[] key, byte[] value) {
    try {
      ByteBuffer in = ByteBuffer.wrap(value);
      if (!isPage(key) || in.get() != VERSION) {
        return null;
      }
      int flags = in.get();
      PageId parent = (flags & PARENT) == 0 ? null : digest(in);
      String name = name(in, flags);
      long tenant = (flags & TENANT) == 0 ? 0 : in.getLong();
      TierPage page = new TierPage(PageId.of(key, 0), parent, name, tenant);
      long segment = varint(in);
      long offset = varint(in);
      int length = Math.toIntExact(varint(in));
      return segment < 0 || offset < 0 || length < 0
          ? null
          : new PageDirectory.Entry(page, segment, offset, length, varint(in));
    } catch (BufferUnderflowException | ArithmeticException e) {
      return null;
    }
  }

  private static String name(ByteBuffer in, int flags) {
    if ((flags & (SHORT_NAME | LONG_NAME)) == 0) {
      return "";
    }
    boolean isShort = (flags & SHORT_NAME) != 0;
    int length = isShort ? SHORT_NAME_BYTES : Math.toIntExact(varint(in));
    if (length < 0 || length > in.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] name = new byte[length];
    in.get(name);
    return isShort ? HEX.formatHex(name) : new String(name, StandardCharsets.UTF_8);
  }

  private static PageId digest(ByteBuffer in) {
    return new PageId(in.getLong(), in.getLong(), in.getLong(), in.getLong());
  }

  private static boolean isShort(String name) {
    return name.length() == 2 * SHORT_NAME_BYTES
        && name.chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
  }

  private static void putVarint(ByteBuffer out, long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      out.put((byte) (rest | 0x80));
      rest >>>= 7;
    }
    out.put((byte) rest);
  }

  private static long varint(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; shift < 7 * MAX_VARINT_BYTES; shift += 7) {
      byte next = in.get();
      value |= (long) (next & 0x7F) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new ArithmeticException("a varint of more than 64 bits");
  }
}
