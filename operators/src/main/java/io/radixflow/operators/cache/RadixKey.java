package io.radixflow.operators.cache;

import java.util.Objects;

/**
 * What the tree is searched by: token ids within a namespace. The ids are borrowed, not copied; the
 * first {@link #length()} of them must not change while the key is in use.
 *
 * @param namespace isolates pages: keys of different namespaces share nothing; empty for the public
 *     one
 * @param tokens token ids from position 0
 * @param length how many of {@code tokens} belong to the key
 */
public record RadixKey(String namespace, int[] tokens, int length) {

  public RadixKey {
    Objects.requireNonNull(namespace, "namespace");
    Objects.checkFromIndexSize(0, length, tokens.length);
  }

  /** A key of the public namespace. */
  public static RadixKey of(int... tokens) {
    return new RadixKey("", tokens, tokens.length);
  }

  /** Whole pages that the key spans. */
  int pages(int pageTokens) {
    return length / pageTokens;
  }
}
