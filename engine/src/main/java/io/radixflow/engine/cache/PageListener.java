package io.radixflow.engine.cache;

/**
 * Receives each page that enters or leaves a cache, on the thread that owns the cache. A listener
 * must not block, throw or change the cache.
 */
public interface PageListener {

  /** Reports that a page has been stored. {@link RadixCache#replay} reports pages again. */
  void stored(CachedPage page);

  /**
   * Reports that a page leaves the cache.
   *
   * @param evicted whether the page leaves to make room; otherwise no request needs it again
   * @return whether the listener still needs the page's content; if so, the page is in flight and
   *     the listener must free it
   */
  boolean leaving(CachedPage page, boolean evicted);
}
