package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.protocol.record.kv.KvEvent;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TreeNodeTest {

  /** Case N1. */
  @Test
  void aNewNodeHasNoPagesAndNoLocks() {
    TreeNode node = new TreeNode("");
    assertThat(node.children.size()).isZero();
    assertThat(node.lockCount).isZero();
    assertThat(node.uses).isZero();
    assertThat(node.pageCount()).isZero();
    assertThat(node.endPage()).isZero();
    assertThat(node.priority).isZero();
  }

  /** Case N4, of the locks that a device's pages have. */
  @Test
  void aLockIsReleasedExactlyOnce() {
    Turns turns = new Turns(1);
    turns.insert(1, 2, 3);
    TreeNode node = turns.lock(1, 2, 3);
    assertThat(node.lockCount).isEqualTo(1);
    turns.cache.unlock(node);
    assertThat(node.lockCount).isZero();
    assertThatIllegalStateException().isThrownBy(() -> turns.cache.unlock(node));
  }

  @Test
  void repeatedLookUpsOfAnEvictedPrefixAreShort() {
    Turns turns = new Turns(1, "priority");
    RadixKey key = RadixKey.of(IntStream.range(0, 64).toArray());
    int[] table = new int[64];
    TreeNode end = turns.cache.lock(key, turns.cache.match(key, 64));
    for (int i = 0; i < 64; i++) {
      table[i] = turns.allocator.allocate();
      end = turns.cache.insert(end, key, i, i + 1, table, true, 64 - i).node();
    }
    turns.cache.unlock(end);
    turns.cache.evict(60);
    TreeNode left = turns.cache.match(key, 64).node();

    for (int looks = 0; looks < 6; looks++) {
      assertThat(end.resume()).isSameAs(left);
      assertThat(end.resumablePages(64)).isEqualTo(4);
    }

    assertThat(end.parent).isSameAs(left);
  }

  /** Case N5. */
  @Test
  void theLastBlockOfANodeNamesItsLastPage() {
    EventedCache cache = new EventedCache(1);
    TreeNode node = cache.hold(RadixKey.of(1, 2, 3));
    List<KvEvent.Stored> stored = cache.take(KvEvent.Stored.class);
    assertThat(node.pageCount()).isEqualTo(3);
    assertThat(node.block(2)).isEqualTo(stored.get(2).block());
  }

  /** Case N6. */
  @Test
  void theBlocksOfAPathAreThoseOfTheNodesAboveInOrder() {
    EventedCache cache = new EventedCache(1);
    TreeNode first = cache.hold(RadixKey.of(1));
    TreeNode second = cache.hold(RadixKey.of(1, 2));
    TreeNode third = cache.hold(RadixKey.of(1, 2, 3));
    assertThat(third.parent).isSameAs(second);
    assertThat(second.parent).isSameAs(first);

    List<KvEvent.Stored> content = cache.cache.content();

    assertThat(content)
        .extracting(KvEvent.Stored::block)
        .containsExactly(first.block(0), second.block(0), third.block(0));
    assertThat(content)
        .extracting(KvEvent.Stored::parent)
        .containsExactly(null, first.block(0), second.block(0));
    content.clear();
    assertThat(cache.cache.content()).hasSize(3);
  }
}
