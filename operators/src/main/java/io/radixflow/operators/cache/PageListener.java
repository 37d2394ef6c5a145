package io.radixflow.operators.cache;

/**
 * Receives each page that enters or leaves a cache, on the thread that owns the cache. It must
 * neither block nor throw nor change the cache.
 */
public interface PageListener {

  /** A page has been stored, or is reported again; see {@link RadixCache#replay}. */
  void stored(CachedPage page);

  /**
   * Reports that a page leaves.
   *
   * @param evicted whether it leaves to make room; if not, because it is not needed again
   * @return whether the listener keeps what the page holds for a while: the page is in flight then,
   *     and the listener frees it
   */
  boolean leaving(CachedPage page, boolean evicted);
}
