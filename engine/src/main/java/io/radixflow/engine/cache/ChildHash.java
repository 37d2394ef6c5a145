package io.radixflow.engine.cache;

import java.util.SplittableRandom;

/**
 * The hash by which a node's children are found: of a namespace and the token ids of one page, with
 * a factor for each that comes of a secret seed. For any two pages the chance that their hashes are
 * equal is 2 to minus 32, over the seeds (Lemire, Kaser, "Strongly universal string hashing is
 * fast", 2014): without the seed, prompts that collide cannot be written. No id depends on the one
 * before it, so that a processor multiplies several at once.
 */
class ChildHash {
  private final int span;
  private final long offset;
  private final long namespaceFactor;
  private final long[] factors;

  /**
   * @param seed the cache's own
   * @param span token ids that a page depends on
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
