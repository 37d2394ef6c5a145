package io.radixflow.protocol.fair;

import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * Keeps recently used values, separately for each tenant. No tenant finds another tenant's values.
 * Beyond the limits, the tenant with the most values loses its least recently used value. So a
 * tenant with few values loses none to others. Not thread-safe.
 *
 * @param <K> the keys of values
 */
public final class FairCache<K, V> {
  private final int limit;
  private final long sizeLimit;
  private final ToLongFunction<V> size;
  private final Map<String, LinkedHashMap<K, V>> tenants = new HashMap<>();
  private int count;

  /**
   * @param limit the most values of all tenants
   * @param sizeLimit the largest total size of all values
   * @param size returns the size of a value; it may change while the value is kept
   */
  public FairCache(int limit, long sizeLimit, ToLongFunction<V> size) {
    this.limit = limit;
    this.sizeLimit = sizeLimit;
    this.size = size;
  }

  /** Returns a value, which counts as used now, or null. */
  public V get(String tenant, K key) {
    Map<K, V> own = tenants.get(tenant);
    return own == null ? null : own.get(key);
  }

  /** Keeps a value, or returns the value that is already kept. */
  public V putIfAbsent(String tenant, K key, V value) {
    Map<K, V> own = tenants.computeIfAbsent(tenant, name -> new LinkedHashMap<>(16, 0.75f, true));
    V other = own.putIfAbsent(key, value);
    if (other == null) {
      count++;
      shrink();
    }
    return other == null ? value : other;
  }

  /** Drops values until the limits hold, but keeps at least one value. */
  public void shrink() {
    Map<String, Long> sizes = new HashMap<>();
    tenants.forEach((tenant, own) -> sizes.put(tenant, sizeOf(own.values())));
    long all = sizeOf(sizes.values(), Long::longValue);
    while (count > 1 && (count > limit || all > sizeLimit)) {
      String most =
          count > limit ? withMost(tenant -> tenants.get(tenant).size()) : withMost(sizes::get);
      long dropped = dropEldest(most);
      sizes.merge(most, -dropped, Long::sum);
      all -= dropped;
    }
  }

  private String withMost(ToLongFunction<String> amount) {
    String most = null;
    for (String tenant : tenants.keySet()) {
      if (most == null || amount.applyAsLong(tenant) > amount.applyAsLong(most)) {
        most = tenant;
      }
    }
    return most;
  }

  private long dropEldest(String tenant) {
    Map<K, V> own = tenants.get(tenant);
    Iterator<V> values = own.values().iterator();
    long dropped = size.applyAsLong(values.next());
    values.remove();
    count--;
    if (own.isEmpty()) {
      tenants.remove(tenant);
    }
    return dropped;
  }

  private long sizeOf(Collection<V> values) {
    return sizeOf(values, size);
  }

  private static <T> long sizeOf(Collection<T> values, ToLongFunction<T> size) {
    return values.stream().mapToLong(size).sum();
  }

  /** Drops a tenant's value. */
  public void remove(String tenant, K key) {
    Map<K, V> own = tenants.get(tenant);
    if (own != null && own.remove(key) != null) {
      count--;
      if (own.isEmpty()) {
        tenants.remove(tenant);
      }
    }
  }

  /** Drops the values for which a test is true. */
  public void removeIf(Predicate<V> test) {
    tenants.values().forEach(own -> own.values().removeIf(test));
    tenants.values().removeIf(Map::isEmpty);
    count = tenants.values().stream().mapToInt(Map::size).sum();
  }

  public void clear() {
    tenants.clear();
    count = 0;
  }

  /** Returns how many values are kept. */
  public int size() {
    return count;
  }
}
