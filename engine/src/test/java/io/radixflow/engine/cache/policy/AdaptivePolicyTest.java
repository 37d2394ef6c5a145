package io.radixflow.engine.cache.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.Turns;
import io.radixflow.engine.cache.key.RadixKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdaptivePolicyTest {

  /** Serves so many prompts of a page each and of their own from a pool that they fill. */
  private static Turns leaves(int count, AdaptivePolicy policy) {
    Turns turns = new Turns(count, 1, policy);
    for (int i = 0; i < count; i++) {
      turns.insert(i);
    }
    return turns;
  }

  @ParameterizedTest
  @ValueSource(ints = {1_000, 30_000, 300_000})
  void aTurnsEvictionsLookAtAsFewSlotsHoweverManyLeavesThereAre(int count) {
    AdaptivePolicy policy = new AdaptivePolicy(count);
    Turns turns = leaves(count, policy);
    for (int i = 0; i < 100; i++) {
      long before = policy.slotsLookedAt();
      turns.evict(1);
      assertThat(policy.slotsLookedAt() - before).isBetween(1L, 200L);
      turns.insert(count + i);
    }
  }

  @Test
  void manyEvictionsOfATurnLookAtAboutASlotEach() {
    AdaptivePolicy policy = new AdaptivePolicy(30_000);
    Turns turns = leaves(30_000, policy);

    assertThat(turns.evict(1000)).isEqualTo(1000);

    assertThat(policy.slotsLookedAt()).isBetween(1L, 2000L);
  }

  @Test
  void pagesOfRaisedPriorityAreEvictedLastAndLoweredOnesFirst() {
    PageAllocator allocator = new PageAllocator(3, page -> {});
    RadixCache cache = new RadixCache(allocator, 1, new AdaptivePolicy(3), 0);
    int[] priorities = {1, 0, -1};
    for (int i = 0; i < 3; i++) {
      int[] tokens = {i};
      RadixKey key = new RadixKey("", tokens, 1);
      TreeNode node = cache.lock(key, cache.match(key, 1));
      int[] table = {allocator.allocate()};
      node = cache.insert(node, key, 0, 1, table, true, priorities[i]).node();
      cache.unlock(node);
    }
    cache.evict(1);
    assertThat(cache.match(new RadixKey("", new int[] {2}, 1), 1).pages()).isZero();
    cache.evict(1);
    assertThat(cache.match(new RadixKey("", new int[] {1}, 1), 1).pages()).isZero();
    assertThat(cache.match(new RadixKey("", new int[] {0}, 1), 1).pages()).isEqualTo(1);
  }

  @Test
  void aLeafWhosePriorityHasExpiredIsRankedWithAllOthers() {
    PageAllocator allocator = new PageAllocator(2, page -> {});
    RadixCache cache = new RadixCache(allocator, 1, new AdaptivePolicy(1000), 0);
    for (int i = 0; i < 2; i++) {
      int[] tokens = {i};
      RadixKey key = new RadixKey("", tokens, 1);
      TreeNode node = cache.lock(key, cache.match(key, 1));
      node = cache.insert(node, key, 0, 1, new int[] {allocator.allocate()}, true, 0).node();
      if (i == 0) {
        cache.retain(node, 0, 1, 5, 100);
      }
      cache.unlock(node);
    }
    cache.expire(100);
    cache.evict(1);

    assertThat(cache.match(new RadixKey("", new int[] {0}, 1), 1).pages()).isZero();
  }
}
