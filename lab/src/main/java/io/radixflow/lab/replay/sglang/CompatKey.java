package io.radixflow.lab.replay.sglang;

import java.util.Arrays;
import java.util.Objects;

/**
 * A sequence of units within a namespace: tokens or, as a bigram, pairs of neighbouring tokens.
 * Keys are equal if namespace and units are.
 */
public final class CompatKey {
  private final String namespace;
  private final long[] units;

  private CompatKey(String namespace, long[] units) {
    this.namespace = namespace;
    this.units = units;
  }

  /**
   * A key over token ids.
   *
   * @param namespace may be null, which is a namespace of its own
   * @param bigram whether the units are pairs of tokens, one fewer than there are tokens
   */
  public static CompatKey of(String namespace, int[] tokens, boolean bigram) {
    if (!bigram) {
      return new CompatKey(namespace, Arrays.stream(tokens).asLongStream().toArray());
    }
    long[] pairs = new long[Math.max(0, tokens.length - 1)];
    for (int i = 0; i < pairs.length; i++) {
      pairs[i] = (long) tokens[i] << Integer.SIZE | Integer.toUnsignedLong(tokens[i + 1]);
    }
    return new CompatKey(namespace, pairs);
  }

  public int length() {
    return units.length;
  }

  /** The key without the units after its last whole page. */
  public CompatKey wholePages(int pageUnits) {
    return slice(0, units.length / pageUnits * pageUnits);
  }

  public CompatKey slice(int from, int to) {
    Objects.checkFromToIndex(from, to, units.length);
    return new CompatKey(namespace, Arrays.copyOfRange(units, from, to));
  }

  CompatKey from(int from) {
    return slice(from, units.length);
  }

  /** The key that finds a child among its siblings: its first page. */
  CompatKey firstPage(int pageUnits) {
    return slice(0, pageUnits);
  }

  /**
   * The length of the longest common prefix of whole pages.
   *
   * @throws IllegalArgumentException if the namespaces differ
   */
  public int matchLength(CompatKey other, int pageUnits) {
    if (!Objects.equals(namespace, other.namespace)) {
      throw new IllegalArgumentException("keys of different namespaces do not compare");
    }
    int at = Arrays.mismatch(units, other.units);
    return (at < 0 ? units.length : at) / pageUnits * pageUnits;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CompatKey key
        && Objects.equals(namespace, key.namespace)
        && Arrays.equals(units, key.units);
  }

  @Override
  public int hashCode() {
    return 31 * Objects.hashCode(namespace) + Arrays.hashCode(units);
  }
}
