package io.radixflow.operators.cache.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.cache.EvictionPolicy;
import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.TreeNode;
import io.radixflow.operators.cache.Turns;
import io.radixflow.operators.cache.key.RadixKey;
import io.radixflow.operators.cache.simulate.CacheSimulation;
import io.radixflow.operators.cache.simulate.CacheWorkload;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdaptivePolicyTest {
  private final CacheWorkload.Builder workload = new CacheWorkload.Builder();
  private final Random random = new Random(1);

  private void request(int scope, int document, int blocks) {
    workload.begin(scope);
    for (int i = 0; i < blocks; i++) {
      workload.block(i == 0 ? document : i);
    }
  }

  /** All documents in turn, again and again: more than fit, so that LRU never hits. */
  private void loop(int scope, int documents, int rounds) {
    for (int i = 0; i < documents * rounds; i++) {
      request(scope, i % documents, 10);
    }
  }

  /** Some documents are asked for often, all others once. */
  private void popular(int scope, int requests) {
    for (int i = 0; i < requests; i++) {
      boolean hot = random.nextInt(3) == 0;
      request(scope, hot ? random.nextInt(60) : 1000 + i, 10);
    }
  }

  /** Conversations that go on for some turns soon after each other, then end for good. */
  private void conversations(int scope, int requests) {
    int[] turns = new int[requests];
    int first = 0;
    for (int i = 0, begun = 8; i < requests; i++) {
      int each = first + random.nextInt(begun - first);
      request(scope, each, 4 * ++turns[each]);
      if (turns[each] == 6 || each == first) {
        first++;
        begun++;
      }
    }
  }

  private double hitRate(String policy, int capacity) {
    CacheWorkload built = workload.build();
    EvictionPolicy made = EvictionPolicies.of(policy, capacity, 0.8);
    return (double) CacheSimulation.run(built, capacity, made, true).hits() / built.inputBlocks();
  }

  private double bestFixed(int capacity) {
    return Math.max(
        Math.max(hitRate("lru", capacity), hitRate("fifo", capacity)),
        Math.max(hitRate("slru", capacity), hitRate("lfu-ghost", capacity)));
  }

  @Test
  void partOfALoopThatDoesNotFitIsKept() {
    loop(0, 100, 40);

    assertThat(hitRate("lru", 500)).isZero();
    assertThat(hitRate("adaptive", 500)).isGreaterThan(0.4);
  }

  @Test
  void popularPagesSurviveThoseUsedOnce() {
    popular(0, 4000);

    assertThat(hitRate("adaptive", 400)).isGreaterThan(hitRate("lru", 400) + 0.05);
    assertThat(hitRate("adaptive", 400)).isGreaterThan(bestFixed(400) - 0.02);
  }

  @Test
  void endedConversationsGiveWayToNewOnesAsWithLru() {
    conversations(0, 6000);

    assertThat(hitRate("lfu-ghost", 200)).isLessThan(hitRate("lru", 200) - 0.1);
    assertThat(hitRate("adaptive", 200)).isGreaterThan(hitRate("lru", 200) - 0.02);
  }

  @Test
  void trafficThatTurnsToAnotherKindAndBackIsServedAsWellAsByTheBestFixedPolicy() {
    for (int i = 0; i < 4; i++) {
      popular(2 * i, 1500);
      conversations(2 * i + 1, 1500);
    }

    assertThat(hitRate("adaptive", 300)).isGreaterThan(bestFixed(300) - 0.01);
  }

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
  void raisedPagesGoLastAndLoweredOnesFirst() {
    PageAllocator allocator = new PageAllocator(3, page -> {});
    RadixCache cache = new RadixCache(allocator, 1, new AdaptivePolicy(3));
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
  void aLeafWhosePriorityIsTakenBackIsRankedWithAllOthers() {
    PageAllocator allocator = new PageAllocator(2, page -> {});
    RadixCache cache = new RadixCache(allocator, 1, new AdaptivePolicy(1000));
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
