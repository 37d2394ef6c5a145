package io.radixflow.lab.replay.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** In which order SGLang's policies evict nodes; the cases E1 to E8 on its own numbers. */
class CompatPolicyTest {

  private static CompatNode node(int hits, int priority, long createdAt, long accessedAt) {
    CompatNode node =
        new CompatNode(null, CompatKey.of(null, new int[0], false), new int[0], 0, createdAt);
    node.hitCount = hits;
    node.priority = priority;
    node.accessedAt = accessedAt;
    return node;
  }

  private static void assertOrder(CompatPolicy policy, CompatNode... expected) {
    List<CompatNode> reversed = new ArrayList<>(List.of(expected));
    Collections.reverse(reversed);
    assertThat(reversed.stream().sorted(policy.order())).containsExactly(expected);
  }

  /** Case E1. */
  @Test
  void lruOrdersByAccess() {
    assertOrder(CompatPolicy.LRU, node(0, 0, 0, 1), node(0, 0, 0, 3), node(0, 0, 0, 5));
  }

  /** Case E2. */
  @Test
  void lfuOrdersByHitsThenByAccess() {
    assertOrder(
        CompatPolicy.LFU,
        node(1, 0, 0, 10),
        node(5, 0, 0, 3),
        node(5, 0, 0, 4),
        node(100, 0, 0, 1));
  }

  /** Case E3. */
  @Test
  void fifoOrdersByCreation() {
    assertOrder(CompatPolicy.FIFO, node(0, 0, 1, 9), node(0, 0, 5, 8), node(0, 0, 7, 7));
  }

  /** Case E4. */
  @Test
  void mruOrdersByAccessNewestFirst() {
    assertOrder(CompatPolicy.MRU, node(0, 0, 0, 5), node(0, 0, 0, 3), node(0, 0, 0, 1));
  }

  /** Case E5. */
  @Test
  void filoOrdersByCreationNewestFirst() {
    assertOrder(CompatPolicy.FILO, node(0, 0, 7, 7), node(0, 0, 5, 8), node(0, 0, 3, 9));
  }

  /** Case E6. */
  @Test
  void priorityOrdersByPriorityThenByAccess() {
    assertOrder(
        CompatPolicy.PRIORITY,
        node(0, 1, 0, 10),
        node(0, 2, 0, 4),
        node(0, 2, 0, 6),
        node(0, 5, 0, 1));
  }

  /** Case E7. */
  @Test
  void slruProtectsFromTwoHitsOn() {
    assertOrder(CompatPolicy.SLRU, node(1, 0, 0, 10), node(2, 0, 0, 1), node(100, 0, 0, 2));
  }

  /** Case E8. */
  @Test
  void slruOrdersTheProtectedAfterAllOthers() {
    assertOrder(
        CompatPolicy.SLRU, node(0, 0, 0, 2), node(0, 0, 0, 10), node(5, 0, 0, 1), node(3, 0, 0, 8));
  }

  /** Case E10. */
  @ParameterizedTest
  @EnumSource
  void namesAreFoundInAnyCase(CompatPolicy policy) {
    String lower = policy.name().toLowerCase(Locale.ROOT);
    assertThat(CompatPolicy.named(lower)).isSameAs(policy);
    assertThat(CompatPolicy.named(policy.name())).isSameAs(policy);
  }

  @Test
  void anUnknownNameIsRefusedWithThoseThereAre() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CompatPolicy.named("best"))
        .withMessage(
            "no eviction policy is called 'best'; SGLang has lru, lfu, fifo, mru, filo, slru,"
                + " priority");
  }
}
