package io.radixflow.engine.tier.store;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.models.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * The format of a stored page, on disk and in a remote file system. Thread-safe.
 *
 * <pre>
 *   0  magic "RFPG"                 32  digest of the page, 32 bytes
 *   4  flags: 1 parent              64  digest of its parent, 32 bytes
 *   8  length of the body           96  tenant
 *  12  CRC32C of all other bytes   104  length of the namespace's name
 *  16  hash of the numerics epoch  108  the name, padded with zeros to 64 bytes
 *  24  milliseconds when written   172  zeros up to 176, then the body
 * </pre>
 *
 * <p>Numbers are big-endian. The body is encrypted, as {@link PageCipher} describes.
 */
public final class PageCodec {
  /** Bytes before the body. */
  public static final int HEADER_BYTES = 176;

  private static final int MAGIC = 0x5246_5047;
  private static final int HAS_PARENT = 1;
  private static final int LENGTH_AT = 8;
  private static final int CHECKSUM_AT = 12;
  private static final int EPOCH_AT = 16;
  private static final int DIGEST_AT = 32;
  private static final int PARENT_AT = 64;
  private static final int TENANT_AT = 96;
  private static final int NAMESPACE_AT = 104;
  private static final int MAX_NAMESPACE = 64;

  private final PageCipher cipher;
  private final long epoch;
  private final PageSizes sizes;

  /**
   * Creates the codec of a store.
   *
   * @param keys the keys that encrypt the pages
   * @param epoch numerics epoch of all pages
   * @param sizes bytes of a page
   */
  public PageCodec(TenantKeys keys, String epoch, PageSizes sizes) {
    this.epoch = ByteBuffer.wrap(Sha256.of(epoch.getBytes(StandardCharsets.UTF_8))).getLong();
    this.cipher = new PageCipher(keys, this.epoch);
    this.sizes = sizes;
  }

  /** Returns the maximum number of bytes of a stored page, including its header. */
  public int maxBytes() {
    return Math.addExact(HEADER_BYTES + PageCipher.OVERHEAD, sizes.largest());
  }

  /**
   * Encodes a page.
   *
   * @param bytes the page, from position 0; unchanged
   * @param now milliseconds since the epoch
   * @param out receives the encoded page from position 0 on, and its limit; must have room for
   *     {@link #maxBytes}
   */
  public void encode(TierPage page, ByteBuffer bytes, long now, ByteBuffer out) {
    ByteBuffer plain = bytes.duplicate().clear().limit(sizes.of(page));
    byte[] namespace = page.namespace().getBytes(StandardCharsets.UTF_8);
    if (namespace.length > MAX_NAMESPACE) {
      throw new IllegalArgumentException("a namespace's name has " + namespace.length + " bytes");
    }
    out.clear();
    int flags = page.parent() == null ? 0 : HAS_PARENT;
    out.putInt(MAGIC).putInt(flags).putInt(0).putInt(0).putLong(epoch).putLong(now);
    put(out, page.id());
    put(out, page.parent() == null ? PageId.NONE : page.parent());
    out.putLong(page.tenant()).putInt(namespace.length).put(namespace);
    while (out.position() < HEADER_BYTES) {
      out.put((byte) 0);
    }
    cipher.encrypt(page, plain, out);
    out.flip().putInt(LENGTH_AT, out.limit() - HEADER_BYTES);
    out.putInt(CHECKSUM_AT, checksum(out));
  }

  private static void put(ByteBuffer out, PageId id) {
    out.putLong(id.a()).putLong(id.b()).putLong(id.c()).putLong(id.d());
  }

  private static PageId id(ByteBuffer in, int at) {
    return new PageId(in.getLong(at), in.getLong(at + 8), in.getLong(at + 16), in.getLong(at + 24));
  }

  private static int checksum(ByteBuffer encoded) {
    CRC32C crc = new CRC32C();
    crc.update(encoded.duplicate().position(0).limit(CHECKSUM_AT));
    crc.update(encoded.duplicate().position(CHECKSUM_AT + Integer.BYTES));
    return (int) crc.getValue();
  }

  /**
   * Decodes a stored page. Verifies the checksum, the epoch, the digest, the digest of the page
   * before it, and the namespace.
   *
   * @param encoded the stored page, from position 0 to its limit
   * @param chain digests of the conversation's pages, or names of window parts
   * @param i index of the page in {@code chain}
   * @param namespace published name of the page's namespace
   * @param into receives the page from position 0 on; undefined if the page is wrong
   * @return why the page is wrong; null if it is right
   */
  public MissReason decode(
      ByteBuffer encoded, PageId[] chain, int i, String namespace, ByteBuffer into) {
    if (encoded.limit() < HEADER_BYTES) {
      return MissReason.TRUNCATED;
    }
    int length = encoded.getInt(LENGTH_AT);
    if (encoded.getInt(0) == MAGIC && length > encoded.limit() - HEADER_BYTES) {
      return MissReason.TRUNCATED;
    }
    if (encoded.getInt(0) != MAGIC
        || length != encoded.limit() - HEADER_BYTES
        || encoded.getInt(CHECKSUM_AT) != checksum(encoded)) {
      return MissReason.CHECKSUM;
    }
    if (encoded.getLong(EPOCH_AT) != epoch) {
      return MissReason.EPOCH;
    }
    TierPage page = page(encoded);
    boolean chained =
        i == 0 || page.parent() == null || page.parent().equals(chain[i - 1]) || page.isWindow();
    if (!chained || !page.id().equals(chain[i])) {
      return MissReason.DIGEST;
    }
    return page.namespace().equals(namespace) ? body(page, encoded, into) : MissReason.NAMESPACE;
  }

  private MissReason body(TierPage page, ByteBuffer encoded, ByteBuffer into) {
    ByteBuffer body = encoded.duplicate().position(HEADER_BYTES);
    ByteBuffer out = into.duplicate().clear().limit(sizes.of(page));
    return cipher.decrypt(page, body, out) ? null : MissReason.KEY;
  }

  /** Returns the description of a page in its header. */
  public static TierPage page(ByteBuffer encoded) {
    int named = Math.max(0, Math.min(MAX_NAMESPACE, encoded.getInt(NAMESPACE_AT)));
    byte[] namespace = new byte[named];
    encoded.get(NAMESPACE_AT + Integer.BYTES, namespace);
    return new TierPage(
        id(encoded, DIGEST_AT),
        (encoded.getInt(4) & HAS_PARENT) == 0 ? null : id(encoded, PARENT_AT),
        new String(namespace, StandardCharsets.UTF_8),
        encoded.getLong(TENANT_AT));
  }
}
