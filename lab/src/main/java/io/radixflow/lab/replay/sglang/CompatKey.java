package io.radixflow.lab.replay.sglang;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A sequence of units within a namespace: tokens or, as a bigram, pairs of neighbouring tokens.
 *
 * @param namespace may be null; null is a separate namespace
 */
public record CompatKey(String namespace, List<Long> units) {

  /**
   * Returns a key over token ids.
   *
   * @param bigram whether the units are pairs of tokens, one fewer than there are tokens
   */
  public static CompatKey of(String namespace, int[] tokens, boolean bigram) {
    List<Long> units = new ArrayList<>();
    for (int i = bigram ? 1 : 0; i < tokens.length; i++) {
      long before = bigram ? (long) tokens[i - 1] << Integer.SIZE : 0;
      units.add(before | Integer.toUnsignedLong(tokens[i]));
    }
    return new CompatKey(namespace, units);
  }

  public int length() {
    return units.size();
  }

  /** Returns the key without the units after its last whole page. */
  public CompatKey wholePages(int pageUnits) {
    return slice(0, length() / pageUnits * pageUnits);
  }

  public CompatKey slice(int from, int to) {
    return new CompatKey(namespace, List.copyOf(units.subList(from, to)));
  }

  CompatKey from(int from) {
    return slice(from, length());
  }

  /** Returns the key that identifies a child among its siblings: its first page. */
  CompatKey firstPage(int pageUnits) {
    return slice(0, pageUnits);
  }

  /**
   * Returns the length of the longest common prefix of whole pages.
   *
   * @throws IllegalArgumentException if the namespaces differ
   */
  public int matchLength(CompatKey other, int pageUnits) {
    if (!Objects.equals(namespace, other.namespace)) {
      throw new IllegalArgumentException("keys of different namespaces do not compare");
    }
    int at = 0;
    while (at < Math.min(length(), other.length()) && units.get(at).equals(other.units.get(at))) {
      at++;
    }
    return at / pageUnits * pageUnits;
  }
}
