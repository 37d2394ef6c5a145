package io.radixflow.operators.cache;

/**
 * What changed in a prefix cache, in terms of blocks: a block is a page with the prefix before it,
 * named by {@link PageHasher#blockId}. Whoever applies all events in order knows the cache's
 * content.
 */
public sealed interface KvEvent {

  /**
   * A page has entered a tier.
   *
   * @param tier where it is now; it may be in others, too
   * @param namespace whose it is, as {@link PageHasher#publishedName} tells it
   * @param block its name
   * @param parent name of the page before it, or null if it is a prefix's first; in the cache as
   *     long as this page is
   * @param pageTokens units of the page
   * @param tokenIds the ids that it holds, for a page of pairs one more than it has units; null if
   *     they are not to be told, as they are what users wrote
   */
  record Stored(
      KvTier tier, String namespace, long block, Long parent, int pageTokens, int[] tokenIds)
      implements KvEvent {}

  /**
   * Pages have left a tier.
   *
   * @param blocks neighbours, in the order in which they lay
   */
  record Removed(KvTier tier, long[] blocks) implements KvEvent {}

  /** Every page has left every tier. */
  record Cleared() implements KvEvent {}
}
