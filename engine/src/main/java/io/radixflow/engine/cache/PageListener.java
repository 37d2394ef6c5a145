package io.radixflow.engine.cache;

/**
 * Receives each page that enters or leaves a cache, on the thread that owns the cache. It must not
 * block, throw or change the cache.
 */
public interface PageListener {

  /** A page has been stored, or is reported again; see {@link RadixCache#replay}. */
  void stored(CachedPage page);

  /**
   * Reports that a page leaves.
   *
   * @param evicted whether the page leaves to make room; otherwise it is not needed again
   * @return whether the listener still needs the page's content: then the page is in flight, and
   *     the listener frees it
   */
  boolean leaving(CachedPage page, boolean evicted);
}
