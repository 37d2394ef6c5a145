package io.radixflow.engine.cache.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.TreeNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class IdlePagesProperties {
  private static final int KINDS = 2;

  /** Slots of each width, of which one more is there while two become one. */
  private static final int MOST_SLOTS = 9 * 22;

  @Property(tries = 200)
  void nothingIsLostAndTheOrderStays(
      @ForAll @Size(min = 1, max = 600) List<@IntRange(min = 1, max = 3) Integer> steps) {
    IdlePages idle = new IdlePages(KINDS);
    List<TreeNode> added = new ArrayList<>();
    Map<TreeNode, Integer> kinds = new HashMap<>();
    double[] weights = new double[KINDS];
    long tick = 0;
    for (int step : steps) {
      tick += step;
      TreeNode node = new TreeNode("");
      node.lastUsedAt = tick;
      int kind = step % KINDS;
      idle.begin(tick);
      idle.addLeaf(node, kind, false);
      idle.addWaiting(tick, kind, step);
      added.add(node);
      kinds.put(node, kind);
      weights[kind] += step;
    }
    assertThat(idle.slots()).isLessThanOrEqualTo(MOST_SLOTS);
    for (int kind = 0; kind < KINDS; kind++) {
      List<TreeNode> listed = new ArrayList<>();
      double weight = 0;
      for (int slot = 0; slot < idle.slots(); slot++) {
        weight += idle.waiting(slot, kind);
        assertThat((idle.occupiedKinds(slot) >> kind & 1) == 1)
            .isEqualTo(idle.leaves(slot, kind).oldest() != null);
        for (TreeNode node = idle.leaves(slot, kind).oldest(); node != null; node = node.newer) {
          assertThat(idle.slotOf(node.lastUsedAt)).isEqualTo(slot);
          listed.add(node);
        }
      }
      int wanted = kind;
      assertThat(listed)
          .containsExactlyElementsOf(
              added.stream().filter(node -> kinds.get(node) == wanted).toList());
      assertThat(weight).isEqualTo(weights[kind]);
    }
    for (TreeNode node : added) {
      idle.removeLeaf(node, kinds.get(node));
    }
    for (int slot = 0; slot < idle.slots(); slot++) {
      assertThat(idle.leaves(slot, 0).oldest()).isNull();
      assertThat(idle.leaves(slot, 1).oldest()).isNull();
      assertThat(idle.occupiedKinds(slot)).isZero();
    }
  }

  @Property(tries = 100)
  void theAgeOfASlotIsAboutThatOfEachNodeInIt(@ForAll @IntRange(min = 1, max = 100_000) int ticks) {
    IdlePages idle = new IdlePages(1);
    for (int tick = 1; tick <= ticks; tick++) {
      idle.begin(tick);
    }
    assertThat(idle.slots()).isLessThanOrEqualTo(MOST_SLOTS);
    for (long tick = 1; tick <= ticks; tick += 1 + ticks / 500) {
      long age = ticks - tick;
      assertThat(Math.abs(idle.age(idle.slotOf(tick), ticks) - age))
          .isLessThanOrEqualTo(1 + age / 4);
    }
  }
}
