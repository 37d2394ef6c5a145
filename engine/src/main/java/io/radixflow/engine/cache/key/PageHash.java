package io.radixflow.engine.cache.key;

/**
 * A 64-bit hash of the prefix that ends with a page, chained from page to page. It distinguishes
 * pages in statistics, never in look-ups. The mixing function is the finaliser of SplitMix64
 * (Steele, Lea, Flood 2014).
 */
public final class PageHash {
  private PageHash() {}

  /** Returns the start of a namespace's chain. */
  public static long seed(String namespace) {
    return mix(namespace.hashCode());
  }

  /** Returns the hash of the page whose tokens are {@code tokens[from .. from+count-1]}. */
  public static long next(long previous, int[] tokens, int from, int count) {
    long hash = previous;
    for (int i = from; i < from + count; i++) {
      hash = (hash ^ tokens[i]) * 0x9E37_79B9_7F4A_7C15L;
      hash ^= hash >>> 32;
    }
    return mix(hash);
  }

  public static long mix(long value) {
    long z = (value ^ value >>> 30) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
    return z ^ z >>> 31;
  }
}
