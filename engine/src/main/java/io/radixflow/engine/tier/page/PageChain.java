package io.radixflow.engine.tier.page;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.PageHasher;
import io.radixflow.engine.cache.key.RadixKey;
import java.util.Arrays;

/** The names of the whole pages of a sequence, in order; immutable. Any thread may make one. */
public final class PageChain {
  private static final String PUBLIC_NAME = PageHasher.publishedName(NamespaceKey.PUBLIC);

  private final PageId[] ids;
  private final int publicPages;
  private final int sharedPages;
  private final String rawNamespace;
  private final String namespace;
  private final long tenant;

  private PageChain(RadixKey key, PageId[] ids, int publicPages, int sharedPages, long tenant) {
    this.ids = ids;
    this.publicPages = publicPages;
    this.sharedPages = sharedPages;
    this.rawNamespace = key.namespace();
    this.namespace = PageHasher.publishedName(key.namespace());
    this.tenant = tenant;
  }

  /**
   * Returns the chain of a key; costs one SHA-256 per page.
   *
   * @param tenant the tag of the tenant that owns the key's namespace; see {@link TierPage#tenant}
   */
  public static PageChain of(RadixKey key, int pageTokens, long tenant) {
    byte[] digests = new PageHasher(pageTokens).chain(key);
    PageId[] ids = new PageId[digests.length / PageHasher.BYTES];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = PageId.of(digests, i * PageHasher.BYTES);
    }
    boolean open = key.namespace().equals(NamespaceKey.PUBLIC);
    return new PageChain(
        key,
        ids,
        open ? ids.length : key.publicPages(pageTokens),
        key.publicPages(pageTokens),
        tenant);
  }

  /** Returns the namespace of the key, as the cache knows it. */
  public String namespace() {
    return rawNamespace;
  }

  /** Returns the tenant of that namespace; see {@link TierPage#tenant}. */
  public long tenant() {
    return tenant;
  }

  public int pages() {
    return ids.length;
  }

  /** Returns the number of pages before the pages of the key's own namespace. */
  public int sharedPages() {
    return sharedPages;
  }

  public PageId id(int index) {
    return ids[index];
  }

  /** Returns the names of the pages from {@code first} on. */
  public PageId[] from(int first) {
    return Arrays.copyOfRange(ids, Math.min(first, ids.length), ids.length);
  }

  /** Returns all names; the caller must not change the array. */
  public PageId[] ids() {
    return ids;
  }

  /** Describes a page for a tier. */
  public TierPage page(int index) {
    boolean open = index < publicPages;
    return new TierPage(
        ids[index],
        index == 0 ? null : ids[index - 1],
        open ? PUBLIC_NAME : namespace,
        open ? 0 : tenant);
  }

  /** Returns the published name of each page's namespace. */
  public String[] namespaces() {
    String[] names = new String[ids.length];
    for (int i = 0; i < names.length; i++) {
      names[i] = i < publicPages ? PUBLIC_NAME : namespace;
    }
    return names;
  }
}
