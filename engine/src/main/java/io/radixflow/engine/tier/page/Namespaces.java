package io.radixflow.engine.tier.page;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.PageHasher;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The published names and tenants of namespaces. Their number is bounded; the least recently used
 * are dropped. Engine thread only.
 */
public final class Namespaces {
  private static final int MAX = 65_536;

  private record Known(String name, long tenant) {}

  private static final Known PUBLIC = new Known(PageHasher.publishedName(NamespaceKey.PUBLIC), 0);

  private final Map<String, Known> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Known> eldest) {
          return size() > MAX;
        }
      };

  private long unknown;

  /** Returns the number of pages that could not be described. */
  public long unknown() {
    return unknown;
  }

  public void put(String namespace, long tenant) {
    Known before = known.get(namespace);
    if (!namespace.equals(NamespaceKey.PUBLIC) && (before == null || before.tenant != tenant)) {
      known.put(namespace, new Known(PageHasher.publishedName(namespace), tenant));
    }
  }

  /**
   * Describes a page; returns null if its namespace has been dropped, so that the page is not
   * copied.
   */
  public TierPage describe(PageId id, PageId parent, String namespace) {
    Known owner = namespace.equals(NamespaceKey.PUBLIC) ? PUBLIC : known.get(namespace);
    if (owner == null) {
      unknown++;
      return null;
    }
    return new TierPage(id, parent, owner.name, owner.tenant);
  }
}
