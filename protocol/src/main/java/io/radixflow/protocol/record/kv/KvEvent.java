package io.radixflow.protocol.record.kv;

/**
 * A change of a prefix cache in terms of blocks: a block is a page with the prefix before it, named
 * by 64 bits of its digest. A consumer that applies all events in order knows the cache's content.
 */
public sealed interface KvEvent {

  /**
   * A page has entered a tier.
   *
   * @param tier the tier that it entered; other tiers may also have it
   * @param namespace published name of the page's namespace, a keyed hash
   * @param block name of the page
   * @param parent name of the page before it, or null for the first page of a prefix; the cache has
   *     the parent for as long as it has this page
   * @param pageTokens units of the page
   * @param tokenIds the ids in the page; a page of pairs has one id more than it has units. Null if
   *     they are not published, as they are user content
   */
  record Stored(
      KvTier tier, String namespace, long block, Long parent, int pageTokens, int[] tokenIds)
      implements KvEvent {}

  /**
   * Pages have left a tier.
   *
   * @param blocks names of neighbouring pages, in prefix order
   */
  record Removed(KvTier tier, long[] blocks) implements KvEvent {}

  /** Every page has left every tier. */
  record Cleared() implements KvEvent {}
}
