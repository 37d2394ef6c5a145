package io.radixflow.lab.replay.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Cases in which SGLang's tree was seen to differ from the tree that serves. */
class CompatTreeTest {
  private int nextSlot = 1;

  private static CompatTree tree(CompatPolicy policy, int pageUnits, boolean bigram) {
    return new CompatTree(policy, pageUnits, bigram);
  }

  private int insertAs(int priority, CompatTree tree, int... tokens) {
    int[] slots = IntStream.range(nextSlot, nextSlot + tokens.length).toArray();
    nextSlot += tokens.length;
    return tree.insert(null, tokens, slots, priority);
  }

  private int insert(CompatTree tree, int... tokens) {
    return insertAs(0, tree, tokens);
  }

  @Test
  void everyLookUpThatEndsInsideANodeSplitsItForGood() {
    CompatTree tree = tree(CompatPolicy.LRU, 1, false);
    int[] tokens = IntStream.range(0, 64).toArray();
    insert(tree, tokens);
    for (int length = 1; length < 64; length++) {
      int[] other = Arrays.copyOf(tokens, length + 1);
      other[length] = -1;
      assertThat(tree.match(null, other).slots()).hasSize(length);
    }
    assertThat(tree.nodes()).isEqualTo(64);
    assertThat(tree.total()).isEqualTo(64);
  }

  @Test
  void anEvictionFreesTheWholeLeaf() {
    CompatTree tree = tree(CompatPolicy.LRU, 1, false);
    insert(tree, IntStream.range(0, 100).toArray());
    assertThat(tree.evict(1)).hasSize(100);
    insert(tree, 1, 2);
    assertThat(tree.evict(10)).hasSize(2);
    assertThat(tree.evict(10)).isEmpty();
  }

  @Test
  void aParentFollowsItsLastChildInTheSameEviction() {
    CompatTree tree = tree(CompatPolicy.LRU, 1, false);
    insert(tree, 1, 2);
    insert(tree, 1, 3);
    assertThat(tree.nodes()).isEqualTo(3);
    assertThat(tree.evict(3)).containsExactly(2, 4, 1);
    assertThat(tree.nodes()).isZero();
  }

  @Test
  void onlyInsertionsAreHits() {
    CompatTree tree = tree(CompatPolicy.LFU, 1, false);
    insert(tree, 1);
    insert(tree, 2);
    insert(tree, 2);
    for (int i = 0; i < 5; i++) {
      tree.match(null, new int[] {1});
    }
    assertThat(tree.evict(1)).containsExactly(1);
  }

  @Test
  void aSplitPrefixTakesTheHighestPriorityAndItsEndKeepsItsOwn() {
    CompatTree tree = tree(CompatPolicy.PRIORITY, 1, false);
    insertAs(0, tree, 1, 2, 3);
    insertAs(7, tree, 1, 2, 9);
    CompatNode prefix = tree.match(null, new int[] {1, 2}).node();
    assertThat(prefix.priority).isEqualTo(7);
    assertThat(tree.match(null, new int[] {1, 2, 3}).node().priority).isZero();
    assertThat(tree.match(null, new int[] {1, 2, 9}).node().priority).isEqualTo(7);
    assertThat(prefix.parent.priority).isEqualTo(Integer.MIN_VALUE);
  }

  @Test
  void aSplitPrefixIsCreatedByTheSplit() {
    CompatTree tree = tree(CompatPolicy.FIFO, 1, false);
    insert(tree, 1, 2);
    insert(tree, 7);
    tree.match(null, new int[] {1});
    assertThat(tree.evict(1)).containsExactly(2);
    assertThat(tree.evict(1)).containsExactly(3);
    assertThat(tree.evict(1)).containsExactly(1);
  }

  @Test
  void aLockSurvivesTheSplitOfWhatItHolds() {
    CompatTree tree = tree(CompatPolicy.LRU, 1, false);
    insert(tree, 1, 2, 3, 4);
    CompatNode locked = tree.match(null, new int[] {1, 2, 3, 4}).node();
    tree.lock(locked);
    tree.match(null, new int[] {1, 2});
    assertThat(tree.protectedUnits()).isEqualTo(4);
    assertThat(tree.evictableLeaves()).isZero();
    tree.unlock(locked);
    assertThat(tree.protectedUnits()).isZero();
    assertThat(tree.evictable()).isEqualTo(4);
    assertThatIllegalStateException().isThrownBy(() -> tree.unlock(locked));
  }

  @Test
  void pairsOfTokensAreOneFewerThanTokens() {
    CompatTree pairs = tree(CompatPolicy.LRU, 1, true);
    int[] five = {1, 2, 3, 4, 5};
    insert(pairs, five);
    assertThat(pairs.total()).isEqualTo(4);
    assertThat(pairs.match(null, five).slots()).containsExactly(1, 2, 3, 4);
    assertThat(pairs.match(null, new int[] {1, 2, 3}).slots()).hasSize(2);
    assertThat(pairs.match(null, new int[] {1}).slots()).isEmpty();
    CompatTree paged = tree(CompatPolicy.LRU, 4, true);
    insert(paged, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    assertThat(paged.total()).isEqualTo(8);
  }

  @Test
  void noNamespaceIsANamespaceOfItsOwn() {
    CompatTree tree = tree(CompatPolicy.LRU, 1, false);
    tree.insert(null, new int[] {1}, new int[] {10}, 0);
    tree.insert("", new int[] {1}, new int[] {20}, 0);
    tree.insert("a", new int[] {1}, new int[] {30}, 0);
    assertThat(tree.match(null, new int[] {1}).slots()).containsExactly(10);
    assertThat(tree.match("", new int[] {1}).slots()).containsExactly(20);
    assertThat(tree.match("a", new int[] {1}).slots()).containsExactly(30);
    assertThat(tree.match("b", new int[] {1}).slots()).isEmpty();
  }

  @Test
  void aPageHasAtLeastOneUnit() {
    assertThatIllegalArgumentException().isThrownBy(() -> tree(CompatPolicy.LRU, 0, false));
  }
}
