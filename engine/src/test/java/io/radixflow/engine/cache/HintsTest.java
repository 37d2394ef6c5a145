package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.engine.cache.session.Pins;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.RetentionRange;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests what a request may say about its pages: priorities of token ranges, and pins. */
class HintsTest {
  private static final int POOL = 64;

  private final PageAllocator allocator = new PageAllocator(POOL, page -> {});
  private final RadixCache cache =
      new RadixCache(allocator, 1, EvictionPolicies.of("priority", POOL, 1), 0);
  private final Pins pins = new Pins(cache, POOL);

  @Test
  void aRangeOfHigherPriorityOutlivesPagesUsedLater() {
    cache.unlock(store(8, 100, node -> cache.retain(node, 2, 5, 7, 1000)));
    cache.unlock(store(8, 200, node -> {}));
    assertThat(cache.evict(3)).isEqualTo(3);
    assertThat(matched(8, 100)).isEqualTo(5);
    cache.evict(8);
    assertThat(matched(8, 100)).isEqualTo(5);
    assertThat(matched(8, 200)).isZero();
  }

  @Test
  void anExpiredPriorityDoesNotCount() {
    cache.unlock(store(4, 100, node -> cache.retain(node, 0, 4, 7, 1000)));
    cache.unlock(store(4, 200, node -> {}));
    cache.expire(999);
    cache.evict(1);
    assertThat(matched(4, 200)).isEqualTo(3);
    cache.expire(1000);
    cache.evict(4);
    assertThat(matched(4, 100)).isZero();
    assertThat(matched(4, 200)).isEqualTo(3);
  }

  @Test
  void aRangeSplitsNodesAndTheirHolderKeepsTheEnd() {
    TreeNode end = store(9, 100, node -> cache.retain(node, 3, 6, 5, Long.MAX_VALUE));
    assertThat(end.endPage()).isEqualTo(9);
    assertThat(cache.nodes()).isEqualTo(3);
    assertThat(end.parent.retention).isEqualTo(5);
    assertThat(end.retention).isEqualTo(TreeNode.NOT_RETAINED);
    assertThat(end.parent.parent.retention).isEqualTo(TreeNode.NOT_RETAINED);
    cache.unlock(end);
    assertThat(matched(9, 100)).isEqualTo(9);
  }

  @Test
  void aPinnedPrefixStaysUntilItsTime() {
    pinned("a", "tenant", 8, 100, 50);
    assertThat(cache.evict(POOL)).isZero();
    pins.expire(49);
    assertThat(cache.protectedPages()).isEqualTo(8);
    pins.expire(50);
    assertThat(cache.protectedPages()).isZero();
    assertThat(pins.pages()).isZero();
    assertThat(cache.evict(POOL)).isEqualTo(8);
  }

  @Test
  void aNewPinOfAnOwnerReplacesTheOldOne() {
    pinned("a", "tenant", 8, 100, 50);
    pinned("a", "tenant", 4, 200, 60);
    assertThat(cache.protectedPages()).isEqualTo(4);
    pins.unpin("a");
    pins.unpin("a");
    assertThat(cache.protectedPages()).isZero();
  }

  @Test
  void pinsCannotTakeMoreThanTheirShareOfThePool() {
    assertThat(pinned("a", "one", 8, 100, 50)).isTrue();
    assertThat(pinned("b", "one", 1, 200, 50)).isFalse();
    assertThat(pinned("c", "two", 8, 300, 50)).isTrue();
    assertThat(pinned("d", "three", 1, 400, 50)).isFalse();
    assertThat(pins.refused()).isEqualTo(2);
    pins.unpin("a");
    assertThat(pinned("d", "three", 1, 400, 50)).isTrue();
    assertThat(cache.protectedPages()).isEqualTo(9);
  }

  @Test
  void hintsOutOfRangeAreRefused() {
    assertThatThrownBy(() -> new RetentionRange(5, 5, 1, 1)).hasMessageContaining("5 to 5");
    assertThatThrownBy(() -> new RetentionRange(0, 5, 1, 0)).hasMessageContaining("0 ms");
    assertThatThrownBy(() -> new CacheHints(false, -1, List.of(), null))
        .hasMessageContaining("-1 ms");
  }

  private interface Hint {
    void give(TreeNode node);
  }

  private boolean pinned(String owner, String tenant, int pages, int first, long until) {
    TreeNode node = store(pages, first, each -> {});
    boolean fits = pins.pin(owner, tenant, node, until);
    cache.unlock(node);
    return fits;
  }

  private RadixKey key(int pages, int first) {
    return RadixKey.of(IntStream.range(first, first + pages).toArray());
  }

  private int matched(int pages, int first) {
    return cache.match(key(pages, first), Integer.MAX_VALUE).pages();
  }

  /** Stores pages that begin with a token; the caller unlocks the node. */
  private TreeNode store(int pages, int first, Hint hint) {
    RadixKey key = key(pages, first);
    PrefixMatch match = cache.match(key, Integer.MAX_VALUE);
    TreeNode node = cache.lock(key, match);
    int[] table = new int[pages];
    cache.copyPages(node, match.pages(), table);
    allocator.allocExtend(table, match.pages(), pages);
    node = cache.insert(node, key, match.pages(), pages, table, true).node();
    hint.give(node);
    return node;
  }
}
