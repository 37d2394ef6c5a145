package io.radixflow.engine.tier.page;

import io.radixflow.engine.cache.key.PageHasher;
import java.nio.ByteBuffer;
import java.util.Collection;

/**
 * The digest of a page ({@link PageHasher}) as a value: its 32 bytes as four big-endian integers.
 * It does not name the numerics epoch: a tier serves one epoch.
 */
public record PageId(long a, long b, long c, long d) {
  /** Stands for the absence of a page. */
  public static final PageId NONE = new PageId(0, 0, 0, 0);

  /** Returns the digest that begins at {@code at}. */
  public static PageId of(byte[] digests, int at) {
    ByteBuffer bytes = ByteBuffer.wrap(digests, at, PageHasher.BYTES);
    return new PageId(bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong());
  }

  /** Reads consecutive digests, as {@link #bytes} writes them. */
  public static PageId[] all(byte[] digests) {
    PageId[] ids = new PageId[digests.length / PageHasher.BYTES];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = of(digests, i * PageHasher.BYTES);
    }
    return ids;
  }

  /** Writes digests consecutively. */
  public static byte[] bytes(Collection<PageId> ids) {
    byte[] digests = new byte[ids.size() * PageHasher.BYTES];
    int at = 0;
    for (PageId id : ids) {
      id.copyTo(digests, at);
      at += PageHasher.BYTES;
    }
    return digests;
  }

  /** Writes the digest to {@code out} at {@code at}. */
  public void copyTo(byte[] out, int at) {
    ByteBuffer.wrap(out, at, PageHasher.BYTES).putLong(a).putLong(b).putLong(c).putLong(d);
  }

  /** Returns the name under which tiers keep the page's window part; for such a name, the page. */
  public PageId window() {
    return new PageId(~a, ~b, ~c, ~d);
  }

  /** Returns the page's short name in events; see {@link PageHasher#blockId}. */
  public long block() {
    return a;
  }

  /** The bits of a digest are already as good as random. */
  @Override
  public int hashCode() {
    return (int) b;
  }
}
