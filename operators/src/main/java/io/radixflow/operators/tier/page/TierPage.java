package io.radixflow.operators.tier.page;

/**
 * Describes a page that is below the device: what a tier knows of it beside its bytes.
 *
 * @param id the page's digest
 * @param parent digest of the page before; null if it is the first of a prefix
 * @param namespace published name of its namespace, empty for the public one; see {@link
 *     io.radixflow.operators.cache.key.PageHasher#publishedName}
 * @param tenant distinguishes tenants without naming them: a keyed hash of the tenant's name; 0 for
 *     pages of the public namespace
 */
public record TierPage(PageId id, PageId parent, String namespace, long tenant) {}
