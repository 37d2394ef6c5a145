package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RadixCacheTest {
  private final PageAllocator allocator = new PageAllocator(1024, page -> {});
  private RadixCache cache = new RadixCache(allocator, 1, EvictionPolicies.of("lru", 1, 1), 0);

  @Test
  void aKeyMatchesItsLongestCachedPrefix() {
    insert(RadixKey.of(1, 2, 3));
    assertThat(matched(RadixKey.of(1, 2, 3))).isEqualTo(3);
    assertThat(matched(RadixKey.of(1, 2))).isEqualTo(2);
    assertThat(matched(RadixKey.of(1, 2, 9, 9))).isEqualTo(2);
    assertThat(matched(RadixKey.of(9, 2, 3))).isZero();
    assertThat(matched(RadixKey.of())).isZero();
  }

  @Test
  void onlyWholePagesMatch() {
    cache = new RadixCache(allocator, 4, EvictionPolicies.of("lru", 1, 1), 0);
    insert(RadixKey.of(1, 2, 3, 4, 5, 6, 7, 8));
    assertThat(matched(RadixKey.of(1, 2, 3, 4, 5, 6, 9, 8))).isEqualTo(1);
    assertThat(matched(RadixKey.of(1, 9, 3, 4))).isZero();
    assertThat(matched(RadixKey.of(1, 2, 3))).isZero();
    assertThat(matched(RadixKey.of(1, 2, 3, 4, 5, 6, 7, 8, 9))).isEqualTo(2);
  }

  @Test
  void namespacesShareNothing() {
    int[] tokens = {1, 2, 3};
    insert(new RadixKey("a", tokens, 3));
    assertThat(matched(new RadixKey("a", tokens, 3))).isEqualTo(3);
    assertThat(matched(new RadixKey("b", tokens, 3))).isZero();
    assertThat(matched(RadixKey.of(tokens))).isZero();
    insert(new RadixKey("b", tokens, 2));
    assertThat(cache.evict(3)).isEqualTo(3);
    assertThat(matched(new RadixKey("b", tokens, 3))).isEqualTo(2);
  }

  @Test
  void publicTokensAreSharedAndWhatFollowsThemIsNot() {
    int[] tokens = {1, 2, 3, 4};
    insert(new RadixKey("a", tokens, 4, 2));
    assertThat(matched(new RadixKey("b", tokens, 4, 2))).isEqualTo(2);
    assertThat(matched(new RadixKey("b", tokens, 4, 3))).isEqualTo(2);
    assertThat(matched(new RadixKey("b", tokens, 4))).isZero();
    assertThat(matched(new RadixKey("a", tokens, 4))).isZero();
    assertThat(matched(RadixKey.of(tokens))).isEqualTo(2);
    assertThat(matched(new RadixKey("a", tokens, 4, 2))).isEqualTo(4);
  }

  @Test
  void resumingAtTheEndOfPublicTokensFindsNoPagesOfOtherNamespaces() {
    int[] tokens = {1, 2, 3, 4};
    insert(RadixKey.of(tokens));
    TreeNode end = lock(new RadixKey("a", tokens, 2, 2));
    cache.unlock(end);
    assertThat(cache.nodes()).as("the pages behind are in the same node again").isEqualTo(1);
    RadixKey longer = new RadixKey("a", tokens, 4, 2);
    assertThat(cache.match(longer, Integer.MAX_VALUE, end, 2).pages()).isEqualTo(2);
  }

  @Test
  void lookupsDoNotFragmentTheTree() {
    insert(new RadixKey("", IntStream.range(0, 64).toArray(), 64));
    for (int length = 1; length < 64; length++) {
      int[] divergent = IntStream.range(0, 65).toArray();
      divergent[length] = 999;
      assertThat(matched(RadixKey.of(divergent))).isEqualTo(length);
    }
    assertThat(cache.nodes()).isEqualTo(1);
  }

  @Test
  void aLockProtectsTheMatchedPagesOnly() {
    insert(RadixKey.of(1, 2, 3, 4));
    TreeNode locked = lock(RadixKey.of(1, 2, 9));
    assertThat(cache.protectedPages()).isEqualTo(2);
    assertThat(cache.evict(100)).isEqualTo(2);
    assertThat(matched(RadixKey.of(1, 2, 3, 4))).isEqualTo(2);
    cache.unlock(locked);
    assertThat(cache.evictablePages()).isEqualTo(2);
  }

  @Test
  void aSplitOfPagesWithOneHistoryIsUndone() {
    insert(RadixKey.of(1, 2, 3, 4));
    cache.unlock(lock(RadixKey.of(1, 2)));
    assertThat(cache.nodes()).isEqualTo(1);
    assertThat(matched(RadixKey.of(1, 2, 3, 4))).isEqualTo(4);
  }

  @Test
  void theLeastRecentlyUsedTailIsEvictedFirst() {
    insert(RadixKey.of(1, 2, 3));
    insert(RadixKey.of(4, 5, 6));
    cache.unlock(lock(RadixKey.of(1, 2, 3)));
    cache.evict(1);
    assertThat(matched(RadixKey.of(4, 5, 6))).isEqualTo(2);
    cache.evict(2);
    assertThat(matched(RadixKey.of(4, 5, 6))).isZero();
    cache.evict(1);
    assertThat(matched(RadixKey.of(1, 2, 3))).isEqualTo(2);
  }

  @Test
  void aPrefixOutlivesItsBranches() {
    insert(RadixKey.of(1, 2, 3, 4));
    insert(RadixKey.of(1, 2, 5, 6));
    assertThat(allocator.cached()).isEqualTo(6);
    cache.evict(4);
    assertThat(matched(RadixKey.of(1, 2))).isEqualTo(2);
    assertThat(cache.nodes()).isEqualTo(1);
  }

  @Test
  void aDuplicateIsFreedAfterTheTableLeavesIt() {
    insert(RadixKey.of(1, 2, 3));
    RadixKey key = RadixKey.of(1, 2, 3, 4);
    TreeNode root = cache.lock(key, new PrefixMatch(null, 0, 0));
    int[] table = allocate(4);
    int[] own = table.clone();
    PrefixMatch end = cache.insert(root, key, 0, 4, table, false);
    assertThat(end.pages()).isZero();
    assertThat(table).isEqualTo(own);
    end = cache.insert(end.node(), key, 0, 4, table, true);
    assertThat(end.pages()).isEqualTo(4);
    assertThat(Arrays.copyOf(table, 3)).doesNotContain(own);
    assertThat(table[3]).isEqualTo(own[3]);
    assertThat(allocator.inFlight()).isZero();
    cache.unlock(end.node());
    assertThat(allocator.cached()).isEqualTo(4);
  }

  @Test
  void oneUnlockTooManyIsRefused() {
    insert(RadixKey.of(1, 2));
    TreeNode locked = lock(RadixKey.of(1, 2));
    cache.unlock(locked);
    assertThatThrownBy(() -> cache.unlock(locked)).isInstanceOf(IllegalStateException.class);
  }

  private int matched(RadixKey key) {
    return cache.match(key, Integer.MAX_VALUE).pages();
  }

  private TreeNode lock(RadixKey key) {
    return cache.lock(key, cache.match(key, Integer.MAX_VALUE));
  }

  private void insert(RadixKey key) {
    PrefixMatch match = cache.match(key, Integer.MAX_VALUE);
    TreeNode node = cache.lock(key, match);
    int pages = key.pages(cache.pageTokens());
    int[] table = new int[pages];
    cache.copyPages(node, match.pages(), table);
    for (int i = match.pages(); i < pages; i++) {
      table[i] = allocator.allocate();
    }
    cache.unlock(cache.insert(node, key, match.pages(), pages, table, true).node());
  }

  private int[] allocate(int pages) {
    return IntStream.range(0, pages).map(i -> allocator.allocate()).toArray();
  }
}
