package io.radixflow.engine.cache.key;

import io.radixflow.models.Sha256;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.DigestException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Names pages by their tokens and all tokens before them. A name is the SHA-256 over the digest of
 * the previous page, if there is one, and the page's token ids as little-endian unsigned 32-bit
 * integers.
 *
 * <p>In the public namespace the chain equals SGLang's chain byte for byte. In every other
 * namespace the first page is chained to the namespace's {@link #seed}, as if the seed were the
 * digest of a page. So equal pages of two namespaces have unrelated names, and no one without the
 * namespace can check whether a page contains a guessed text.
 *
 * <p>Owned by one thread.
 */
public final class PageHasher {
  public static final int BYTES = 32;

  private static final String SEED_DOMAIN = "radixflow/page-seed/1";
  private static final String NAME_DOMAIN = "radixflow/namespace-name/1";
  private static final int NAME_BYTES = 16;

  private final MessageDigest sha = Sha256.digest();
  private final int pageTokens;
  private final ByteBuffer ids;

  /**
   * @param pageTokens tokens per page
   * @throws IllegalArgumentException if {@code pageTokens} is not positive
   */
  public PageHasher(int pageTokens) {
    if (pageTokens < 1) {
      throw new IllegalArgumentException(
          "a page of " + pageTokens + " tokens cannot be hashed; it must have at least 1");
    }
    this.pageTokens = pageTokens;
    this.ids = ByteBuffer.allocate(Integer.BYTES * pageTokens).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Returns the digests of all pages of a sequence; the last page may be partial.
   *
   * @param previous digest of the previous page, or a seed, or null for the first page of the
   *     public namespace
   * @param tokens an array that begins with the ids of the sequence
   * @param length how many ids belong to the sequence
   * @return {@link #BYTES} bytes per page
   */
  public byte[] chain(byte[] previous, int[] tokens, int length) {
    byte[] digests = new byte[(length + pageTokens - 1) / pageTokens * BYTES];
    for (int from = 0; from < length; from += pageTokens) {
      int at = from / pageTokens * BYTES;
      hash(
          at == 0 ? previous : digests,
          at == 0 ? 0 : at - BYTES,
          tokens,
          from,
          Math.min(pageTokens, length - from),
          digests,
          at);
    }
    return digests;
  }

  /**
   * Returns the digests of all whole pages of a key, equal to the digests in the nodes of a cache.
   *
   * @return {@link #BYTES} bytes per page
   */
  public byte[] chain(RadixKey key) {
    int pages = key.pages(pageTokens);
    int own = key.publicPages(pageTokens);
    byte[] digests = new byte[pages * BYTES];
    for (int page = 0; page < pages; page++) {
      byte[] previous = digests;
      int previousAt = (page - 1) * BYTES;
      if (page == 0) {
        previous = own > 0 ? null : seed(key.namespace());
        previousAt = 0;
      } else if (page == own) {
        previous =
            seedBelow(Arrays.copyOfRange(digests, previousAt, page * BYTES), key.namespace());
        previousAt = 0;
      }
      int from = page * pageTokens;
      hash(previous, previousAt, key.tokens(), from, pageTokens, digests, page * BYTES);
    }
    return digests;
  }

  /**
   * Computes the digest of one page.
   *
   * @param previous contains the previous digest at {@code previousAt}; null for none
   * @param tokens contains the ids of the page at {@code from}
   * @param count number of ids in the page
   * @param out receives {@link #BYTES} bytes at {@code outAt}
   */
  public void hash(
      byte[] previous, int previousAt, int[] tokens, int from, int count, byte[] out, int outAt) {
    ids.clear();
    for (int i = from; i < from + count; i++) {
      ids.putInt(tokens[i]);
    }
    if (previous != null) {
      sha.update(previous, previousAt, BYTES);
    }
    sha.update(ids.flip());
    try {
      sha.digest(out, outAt, BYTES);
    } catch (DigestException e) {
      throw new IllegalArgumentException("no room for a digest", e);
    }
  }

  /**
   * Returns the short name of a page: the first 8 bytes of its digest, as a big-endian signed
   * integer.
   */
  public static long blockId(byte[] digests, int at) {
    return ByteBuffer.wrap(digests, at, Long.BYTES).getLong();
  }

  /** Returns the digest before the first page of a namespace; null for the public namespace. */
  public static byte[] seed(String namespace) {
    return namespace.equals(NamespaceKey.PUBLIC)
        ? null
        : Sha256.of(Framing.of(SEED_DOMAIN, namespace));
  }

  /**
   * Returns the digest that a namespace's first page after a public page is chained to: SHA-256
   * over the namespace's {@link #seed} and the public page's digest.
   */
  public static byte[] seedBelow(byte[] publicDigest, String namespace) {
    MessageDigest sha = Sha256.digest();
    sha.update(seed(namespace));
    return sha.digest(publicDigest);
  }

  /**
   * Returns the name under which a namespace is published: it distinguishes namespaces and does not
   * reveal their seed. Empty for the public namespace.
   */
  public static String publishedName(String namespace) {
    return namespace.equals(NamespaceKey.PUBLIC)
        ? ""
        : HexFormat.of().formatHex(Sha256.of(Framing.of(NAME_DOMAIN, namespace)), 0, NAME_BYTES);
  }
}
