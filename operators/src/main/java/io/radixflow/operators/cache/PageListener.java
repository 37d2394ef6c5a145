package io.radixflow.operators.cache;

/**
 * Hears of each page that enters or leaves a cache, on the thread that owns it. Must neither block
 * nor throw nor change the cache.
 */
public interface PageListener {

  /** A page has been stored, or is told of again; see {@link RadixCache#replay}. */
  void stored(CachedPage page);

  /**
   * A page leaves.
   *
   * @param evicted whether for want of room; if not, because nobody will need it
   * @return whether the listener keeps what the page holds for a while: the page is in flight then,
   *     and the listener frees it
   */
  boolean leaving(CachedPage page, boolean evicted);
}
