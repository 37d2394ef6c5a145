package io.radixflow.operators.cache;

import java.util.Arrays;
import java.util.Objects;

/**
 * What the tree is searched by: token ids within a namespace. The ids are borrowed, not copied; the
 * first {@link #length()} of them must not change while the key is in use.
 *
 * <p>The units of a key are its tokens or, for speculation as EAGLE does it, the pairs of
 * neighbouring tokens: such a key has one unit fewer than tokens, and a page of n units depends on
 * n + 1 tokens.
 *
 * @param namespace isolates pages: keys of different namespaces share nothing; empty for the public
 *     one
 * @param tokens token ids from position 0
 * @param length how many of {@code tokens} belong to the key
 * @param bigram whether the units are pairs of tokens
 * @param publicTokens how many tokens from the beginning may be shared with everybody: the whole
 *     pages of them lie in the public namespace, and those of {@code namespace} below them
 */
public record RadixKey(
    String namespace, int[] tokens, int length, boolean bigram, int publicTokens) {

  public RadixKey {
    Objects.requireNonNull(namespace, "namespace");
    Objects.checkFromIndexSize(0, length, tokens.length);
    Objects.checkFromIndexSize(0, publicTokens, length);
  }

  /** A key that shares nothing with other namespaces. */
  public RadixKey(String namespace, int[] tokens, int length, boolean bigram) {
    this(namespace, tokens, length, bigram, 0);
  }

  /** A key whose units are single tokens. */
  public RadixKey(String namespace, int[] tokens, int length) {
    this(namespace, tokens, length, false);
  }

  /** A key of the public namespace. */
  public static RadixKey of(int... tokens) {
    return new RadixKey("", tokens, tokens.length);
  }

  /** The same ids as pairs. */
  public RadixKey asBigram() {
    return new RadixKey(namespace, tokens, length, true, publicTokens);
  }

  /** The same ids, of which the first {@code count} may be shared with everybody. */
  public RadixKey withPublicTokens(int count) {
    return new RadixKey(namespace, tokens, length, bigram, count);
  }

  /** Tokens, or pairs of tokens. */
  public int units() {
    return bigram ? Math.max(0, length - 1) : length;
  }

  /** Whole pages that the key spans. */
  public int pages(int pageTokens) {
    return units() / pageTokens;
  }

  /**
   * Whole pages before those of the key's own namespace. A page of pairs also depends on the token
   * after it.
   */
  public int publicPages(int pageTokens) {
    return namespace.equals(NamespaceKey.PUBLIC)
        ? 0
        : Math.max(0, bigram ? publicTokens - 1 : publicTokens) / pageTokens;
  }

  /** The namespace of a page. */
  String namespaceAt(int page, int pageTokens) {
    return page < publicPages(pageTokens) ? NamespaceKey.PUBLIC : namespace;
  }

  /** The end of the pages from {@code page} on that lie in one namespace, at most {@code limit}. */
  int namespaceEnd(int page, int limit, int pageTokens) {
    int end = publicPages(pageTokens);
    return page < end ? Math.min(limit, end) : limit;
  }

  /**
   * The units of the longest common prefix of whole pages.
   *
   * @throws IllegalArgumentException if the keys are of different namespaces or kinds
   */
  public int match(RadixKey other, int pageTokens) {
    if (!namespace.equals(other.namespace) || bigram != other.bigram) {
      throw new IllegalArgumentException("keys of different namespaces or units do not compare");
    }
    int at = Arrays.mismatch(tokens, 0, length, other.tokens, 0, other.length);
    int equal = (at < 0 ? length : at) - (bigram ? 1 : 0);
    return Math.max(0, equal) / pageTokens * pageTokens;
  }
}
