package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.radixflow.engine.cache.key.PageHasher;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CacheEventsTest {

  /** Case T6. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void eachStoredPageIsAnEventOfItsOwn(int pageTokens) {
    EventedCache cache = new EventedCache(pageTokens);
    cache.insert(RadixKey.of(1, 2, 3, 4, 5));
    List<KvEvent.Stored> stored = cache.take(KvEvent.Stored.class);
    assertThat(stored).hasSize(5 / pageTokens);
    assertThat(stored).allMatch(event -> event.tokenIds().length == pageTokens);
    assertThat(stored).allMatch(event -> event.pageTokens() == pageTokens);
    assertThat(stored).allMatch(event -> event.tier() == KvTier.DEVICE);
  }

  @Test
  void aCacheWithoutListenerMakesNoDigests() {
    EventedCache listened = new EventedCache(1);
    RadixCache silent = new RadixCache(listened.allocator, 1, EvictionPolicies.of("lru", 1, 1), 0);
    RadixKey key = RadixKey.of(1);
    TreeNode root = silent.lock(key, silent.match(key, 1));
    int[] table = {listened.allocator.allocate()};
    silent.unlock(silent.insert(root, key, 0, 1, table, true).node());
    assertThat(listened.events).isEmpty();
    assertThatIllegalStateException().isThrownBy(silent::content);
    assertThatIllegalStateException().isThrownBy(() -> silent.listen(event -> {}, false));
  }

  /** Case T7. */
  @Test
  void pagesThatLeaveTogetherAreOneEventInTheOrderInWhichTheyLay() {
    EventedCache cache = new EventedCache(2);
    cache.insert(RadixKey.of(1, 2, 3, 4));
    List<KvEvent.Stored> stored = cache.take(KvEvent.Stored.class);
    assertThat(stored).hasSize(2);
    cache.cache.evict(4);
    List<KvEvent.Removed> removed = cache.take(KvEvent.Removed.class);
    assertThat(removed).hasSize(1);
    assertThat(removed.get(0).blocks())
        .containsExactly(stored.get(0).block(), stored.get(1).block());
  }

  /** Case T13. */
  @Test
  void aNodeCarriesAHashForEachOfItsPages() {
    EventedCache cache = new EventedCache(4);
    TreeNode node = cache.hold(RadixKey.of(1, 2, 3, 4, 5, 6, 7, 8));
    assertThat(node.pageCount()).isEqualTo(2);
    assertThat(node.block(0)).isEqualTo(-3488128144981237669L);
    assertThat(node.block(1)).isEqualTo(5674439469042975057L);
  }

  /** Case T14. */
  @Test
  void equalPagesAreDifferentBlocksForWhatLiesBeforeThem() {
    EventedCache cache = new EventedCache(4);
    cache.insert(RadixKey.of(1, 2, 3, 4, 1, 2, 3, 4));
    List<KvEvent.Stored> stored = cache.take(KvEvent.Stored.class);
    assertThat(stored).hasSize(2);
    assertThat(stored.get(0).parent()).isNull();
    assertThat(stored.get(1).parent()).isEqualTo(stored.get(0).block());
    assertThat(stored.get(1).block()).isNotEqualTo(stored.get(0).block());
    assertThat(stored.get(1).tokenIds()).isEqualTo(stored.get(0).tokenIds());
  }

  /** Cases T15, U23 and the splits of H1. */
  @Test
  void aSplitDividesTheHashesAndIsNoEvent() {
    EventedCache cache = new EventedCache(2);
    TreeNode whole = cache.hold(RadixKey.of(1, 2, 3, 4));
    List<KvEvent.Stored> first = cache.take(KvEvent.Stored.class);
    TreeNode branch = cache.hold(RadixKey.of(1, 2, 5, 6));
    List<KvEvent.Stored> second = cache.take(KvEvent.Stored.class);
    assertThat(second).hasSize(1);
    assertThat(second.get(0).parent()).isEqualTo(first.get(0).block());
    assertThat(second.get(0).tokenIds()).containsExactly(5, 6);
    TreeNode front = whole.parent;
    assertThat(branch.parent).isSameAs(front);
    assertThat(front.pageCount()).isEqualTo(1);
    assertThat(front.block(0)).isEqualTo(first.get(0).block());
    assertThat(whole.pageCount()).isEqualTo(1);
    assertThat(whole.block(0)).isEqualTo(first.get(1).block());
  }

  /** Case H1: any place of a split, with each page size; the total is preserved. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aSplitAnywherePreservesTheListOfHashes(int pageTokens) {
    int[] tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    int pages = tokens.length / pageTokens;
    byte[] digests = new PageHasher(pageTokens).chain(null, tokens, tokens.length);
    for (int at = 0; at <= pages; at++) {
      EventedCache cache = new EventedCache(pageTokens);
      TreeNode end = cache.hold(RadixKey.of(tokens));
      cache.hold(new RadixKey("", tokens, at * pageTokens));
      assertThat(end.parent.isRoot()).isEqualTo(at == 0 || at == pages);
      assertThat(path(end)).isEqualTo(blocks(digests));
    }
  }

  /** Case U23. */
  @Test
  void anEvictedPrefixIsStoredAgain() {
    EventedCache cache = new EventedCache(2);
    cache.insert(RadixKey.of(1, 2, 3, 4));
    List<KvEvent.Stored> before = cache.take(KvEvent.Stored.class);
    cache.cache.evict(4);
    cache.take();
    cache.insert(RadixKey.of(1, 2, 5, 6));
    List<KvEvent.Stored> after = cache.take(KvEvent.Stored.class);
    assertThat(after.get(0)).usingRecursiveComparison().isEqualTo(before.get(0));
    assertThat(after.get(1).parent()).isEqualTo(before.get(0).block());
  }

  @Test
  void namespacesHaveNamesAndBlocksOfTheirOwn() {
    EventedCache cache = new EventedCache(2);
    int[] tokens = {1, 2, 3, 4};
    cache.insert(new RadixKey("a", tokens, 4));
    cache.insert(new RadixKey("b", tokens, 4));
    cache.insert(RadixKey.of(tokens));
    assertThat(cache.view).hasSize(6);
    assertThat(cache.view.values().stream().map(KvEvent.Stored::namespace).distinct())
        .containsExactlyInAnyOrder(
            PageHasher.publishedName("a"), PageHasher.publishedName("b"), "");
  }

  @Test
  void theFirstPageOfANamespaceBelowAPublicOneIsItsChildOnly() {
    EventedCache cache = new EventedCache(2);
    int[] tokens = {1, 2, 3, 4};
    cache.insert(new RadixKey("a", tokens, 4, 2));
    cache.insert(new RadixKey("b", tokens, 4, 2));
    cache.insert(RadixKey.of(tokens));
    List<KvEvent.Stored> stored = cache.take(KvEvent.Stored.class);
    assertThat(stored).hasSize(4);
    assertThat(stored.get(0).namespace()).isEmpty();
    assertThat(stored.subList(1, 4)).allMatch(s -> s.parent() == stored.get(0).block());
    assertThat(stored.stream().map(KvEvent.Stored::block)).doesNotHaveDuplicates();
    assertThat(stored.get(1).namespace()).isEqualTo(PageHasher.publishedName("a"));
  }

  @Test
  void eventsCarryTokenIdsOnlyIfAskedFor() {
    PageAllocator allocator = new PageAllocator(4, page -> {});
    RadixCache cache = new RadixCache(allocator, 1, EvictionPolicies.of("lru", 1, 1), 0);
    List<KvEvent> events = new ArrayList<>();
    cache.listen(events::add, false);
    RadixKey key = RadixKey.of(1);
    TreeNode root = cache.lock(key, cache.match(key, 1));
    cache.insert(root, key, 0, 1, new int[] {allocator.allocate()}, true);
    assertThat(((KvEvent.Stored) events.get(0)).tokenIds()).isNull();
  }

  @Test
  void aResetIsOneEvent() {
    EventedCache cache = new EventedCache(2);
    cache.insert(RadixKey.of(1, 2, 3, 4));
    cache.take();
    cache.cache.reset();
    assertThat(cache.take()).containsExactly(new KvEvent.Cleared());
    assertThat(cache.allocator.free()).isEqualTo(1024);
  }

  private static List<Long> path(TreeNode end) {
    List<Long> blocks = new ArrayList<>();
    for (TreeNode node = end; !node.isRoot(); node = node.parent) {
      for (int i = node.pageCount() - 1; i >= 0; i--) {
        blocks.add(0, node.block(i));
      }
    }
    return blocks;
  }

  private static List<Long> blocks(byte[] digests) {
    Long[] blocks = new Long[digests.length / PageHasher.BYTES];
    Arrays.setAll(blocks, i -> PageHasher.blockId(digests, i * PageHasher.BYTES));
    return List.of(blocks);
  }
}
