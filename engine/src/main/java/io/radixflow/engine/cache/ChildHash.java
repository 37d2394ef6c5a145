package io.radixflow.engine.cache;

import java.util.SplittableRandom;

/**
 * The hash for looking up a node's children. It covers a namespace and the token ids of one page,
 * each multiplied by a factor from a secret seed. Over random seeds, two pages have equal hashes
 * with a probability of 2 to the power of -32 (Lemire, Kaser, "Strongly universal string hashing is
 * fast", 2014). Without the seed, collisions cannot be chosen. No product depends on another
 * product, so a processor computes several at once.
 */
class ChildHash {
  private final int span;
  private final long offset;
  private final long namespaceFactor;
  private final long[] factors;

  /**
   * @param seed the secret seed of the cache
   * @param span number of token ids per page
   */
  ChildHash(long seed, int span) {
    SplittableRandom random = new SplittableRandom(seed);
    this.span = span;
    this.offset = random.nextLong();
    this.namespaceFactor = random.nextLong();
    this.factors = random.longs(span).toArray();
  }

  /** Returns the hash of the page of {@code tokens} at {@code from}. */
  int of(String namespace, int[] tokens, int from) {
    long sum = offset + namespaceFactor * namespace.hashCode();
    for (int i = 0; i < span; i++) {
      sum += factors[i] * tokens[from + i];
    }
    int hash = (int) (sum >>> 32) * 0x9E37_79B9;
    return hash ^ hash >>> 15;
  }
}
