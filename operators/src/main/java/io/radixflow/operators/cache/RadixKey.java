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
 */
public record RadixKey(String namespace, int[] tokens, int length, boolean bigram) {

  public RadixKey {
    Objects.requireNonNull(namespace, "namespace");
    Objects.checkFromIndexSize(0, length, tokens.length);
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
    return new RadixKey(namespace, tokens, length, true);
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
