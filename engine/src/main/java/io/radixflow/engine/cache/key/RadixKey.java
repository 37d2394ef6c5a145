package io.radixflow.engine.cache.key;

import java.util.Objects;

/**
 * A key of the tree: token ids within a namespace. The ids are borrowed, not copied; the first
 * {@link #length()} of them must not change while the key is in use.
 *
 * @param namespace isolates pages: keys of different namespaces share nothing; empty for the public
 *     namespace
 * @param tokens token ids from position 0
 * @param length how many of {@code tokens} belong to the key
 * @param publicTokens how many tokens from the beginning may be shared with all namespaces: their
 *     whole pages are in the public namespace, and the pages of {@code namespace} are below them
 */
public record RadixKey(String namespace, int[] tokens, int length, int publicTokens) {
  public RadixKey {
    Objects.requireNonNull(namespace, "namespace");
    Objects.checkFromIndexSize(0, length, tokens.length);
    Objects.checkFromIndexSize(0, publicTokens, length);
  }

  /** Creates a key that shares nothing with other namespaces. */
  public RadixKey(String namespace, int[] tokens, int length) {
    this(namespace, tokens, length, 0);
  }

  /** Returns a key of the public namespace. */
  public static RadixKey of(int... tokens) {
    return new RadixKey("", tokens, tokens.length);
  }

  /** Returns the number of whole pages in the key. */
  public int pages(int pageTokens) {
    return length / pageTokens;
  }

  /** Returns the number of whole pages before the pages of the key's own namespace. */
  public int publicPages(int pageTokens) {
    return namespace.equals(NamespaceKey.PUBLIC) ? 0 : publicTokens / pageTokens;
  }

  public String namespaceAt(int page, int pageTokens) {
    return page < publicPages(pageTokens) ? NamespaceKey.PUBLIC : namespace;
  }

  /**
   * Returns the end of the pages that follow {@code page} in the same namespace, at most {@code
   * limit}.
   */
  public int namespaceEnd(int page, int limit, int pageTokens) {
    int end = publicPages(pageTokens);
    return page < end ? Math.min(limit, end) : limit;
  }
}
