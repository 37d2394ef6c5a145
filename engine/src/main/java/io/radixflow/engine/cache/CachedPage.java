package io.radixflow.engine.cache;

import io.radixflow.engine.cache.key.PageHasher;

/** A page of a cache as a {@link PageListener} sees it; valid during the call only. */
public final class CachedPage {
  private int number;
  private int index;
  private int uses;
  private String namespace;
  private byte[] parents;
  private int parentAt;
  private byte[] digests;
  private int digestAt;

  CachedPage() {}

  /**
   * Shows a page of a node.
   *
   * @param parents contains the digest of the previous page at {@code parentAt}; null for a first
   *     page
   * @param digests the digests of the node's pages
   */
  void show(TreeNode node, int i, byte[] parents, int parentAt, byte[] digests) {
    number = node.page(i);
    index = node.startPage + i;
    uses = node.uses;
    namespace = node.namespace;
    this.parents = parents;
    this.parentAt = parentAt;
    this.digests = digests;
    digestAt = i * PageHasher.BYTES;
  }

  /** Returns the number of the page in the pool. */
  public int number() {
    return number;
  }

  /** Returns the number of pages before this page in its prefix. */
  public int index() {
    return index;
  }

  /** Returns how many ended requests used the page. */
  public int uses() {
    return uses;
  }

  public String namespace() {
    return namespace;
  }

  /** Returns whether this is the first page of a prefix. */
  public boolean isFirst() {
    return parents == null;
  }

  /** Returns the array with the digest of the previous page, at {@link #parentAt}. */
  public byte[] parents() {
    return parents;
  }

  public int parentAt() {
    return parentAt;
  }

  /** Returns the array with the digest of the page, at {@link #digestAt}. */
  public byte[] digests() {
    return digests;
  }

  public int digestAt() {
    return digestAt;
  }
}
