package io.radixflow.lab.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.EvictionPolicy;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AdaptivePolicyHitRateTest {
  private final CacheWorkload.Builder workload = new CacheWorkload.Builder();
  private final Random random = new Random(1);
  private CacheWorkload built;

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
    built = built == null ? workload.build() : built;
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
}
