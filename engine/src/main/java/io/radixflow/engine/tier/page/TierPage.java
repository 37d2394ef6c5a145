package io.radixflow.engine.tier.page;

/**
 * Describes a page in a tier below the device, or its window part, without its bytes.
 *
 * @param id the page's digest, or the name of its window part ({@link PageId#window})
 * @param parent digest of the previous page, null for the first page of a prefix; for a window part
 *     the digest of its page
 * @param namespace published name of the page's namespace, empty for the public namespace; see
 *     {@link io.radixflow.engine.cache.key.PageHasher#publishedName}
 * @param tenant distinguishes tenants without naming them: a keyed hash of the tenant's name; 0 for
 *     pages of the public namespace
 */
public record TierPage(PageId id, PageId parent, String namespace, long tenant) {

  /** Returns whether this is the window part of a page. */
  public boolean isWindow() {
    return parent != null && id.equals(parent.window());
  }

  /** Describes the window part of this page. */
  public TierPage window() {
    return new TierPage(id.window(), id, namespace, tenant);
  }
}
