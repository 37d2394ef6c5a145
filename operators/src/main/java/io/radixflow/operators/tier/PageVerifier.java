package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Makes records of pages, and verifies them when they come back. Safe for several threads. */
final class PageVerifier {
  private final TenantKeys keys;
  private final int pageBytes;

  /**
   * @param keys null if nothing is encrypted
   */
  PageVerifier(TenantKeys keys, int pageBytes) {
    this.keys = keys;
    this.pageBytes = pageBytes;
  }

  /** Bytes of a record that it makes. */
  int recordBytes() {
    return keys == null ? RecordHeader.recordBytes(pageBytes) : largestRecord();
  }

  /** Bytes of a record that others may have made, encrypted or not. */
  int largestRecord() {
    return RecordHeader.recordBytes(Math.addExact(pageBytes, TenantKeys.OVERHEAD));
  }

  /**
   * A page as it is stored; its header has no place yet.
   *
   * @param bytes the page, from position 0
   */
  SegmentLog.Appended record(TierPage page, ByteBuffer bytes) throws IOException {
    return record(page, bytes, space(1, false));
  }

  /** Memory for some pages if they are encrypted, else null. */
  ByteBuffer space(int pages, boolean direct) {
    if (keys == null) {
      return null;
    }
    int bytes = Math.multiplyExact(pages, pageBytes + TenantKeys.OVERHEAD);
    return direct ? ByteBuffer.allocateDirect(bytes) : ByteBuffer.allocate(bytes);
  }

  /**
   * As {@link #record(TierPage, ByteBuffer)}.
   *
   * @param space what is encrypted goes there, from its position on; of {@link #space}
   */
  SegmentLog.Appended record(TierPage page, ByteBuffer bytes, ByteBuffer space) throws IOException {
    ByteBuffer body = bytes.duplicate().clear().limit(pageBytes);
    if (keys != null) {
      int length = pageBytes + TenantKeys.OVERHEAD;
      body = keys.encrypt(page, body, space.slice(space.position(), length));
      space.position(space.position() + length);
    }
    int flags = keys == null ? 0 : RecordHeader.ENCRYPTED;
    int check = checksum(body);
    return new SegmentLog.Appended(
        new RecordHeader(page, flags, body.remaining(), check, 0, 0, 0), body);
  }

  /** Why the record with this header is not page {@code i} of a chain; null if it is. */
  MissReason header(RecordHeader header, PageId[] chain, int i, String namespace) {
    if (header == null) {
      return MissReason.CHECKSUM;
    }
    if (header.page() == null) {
      return MissReason.ABSENT;
    }
    PageId parent = header.page().parent();
    boolean chained = i == 0 || parent == null || parent.equals(chain[i - 1]);
    if (!chained || !header.page().id().equals(chain[i])) {
      return MissReason.DIGEST;
    }
    return header.page().namespace().equals(namespace) ? null : MissReason.NAMESPACE;
  }

  /**
   * Takes the page out of a record.
   *
   * @param at where its header begins in {@code record}
   * @param into gets the page from position 0 on
   * @return why not; null if it did
   */
  MissReason body(RecordHeader header, ByteBuffer record, int at, ByteBuffer into) {
    int from = at + RecordHeader.BYTES;
    if (header.length() > record.limit() - from) {
      return MissReason.TRUNCATED;
    }
    ByteBuffer body = record.duplicate().limit(from + header.length()).position(from);
    if (header.check() != checksum(body)) {
      return MissReason.CHECKSUM;
    }
    ByteBuffer out = into.duplicate().clear().limit(pageBytes);
    if (header.encrypted()) {
      return keys != null && keys.decrypt(header.page(), body, out) ? null : MissReason.KEY;
    }
    if (body.remaining() != pageBytes) {
      return MissReason.DIGEST;
    }
    out.put(body);
    return null;
  }

  /** CRC32C of what remains in a buffer, which stays as it is. */
  static int checksum(ByteBuffer body) {
    CRC32C crc = new CRC32C();
    crc.update(body.duplicate());
    return (int) crc.getValue();
  }
}
