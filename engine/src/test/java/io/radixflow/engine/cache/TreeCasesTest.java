package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Asserts what SGLang's tests of its tree assert, on the tree that serves. */
class TreeCasesTest {

  /** Case T1; that events are reported only to a listener is T6. */
  @Test
  void aNewCacheIsEmptyAndKnowsItsPages() {
    RadixCache cache = new Turns(4).cache;
    assertThat(cache.pageTokens()).isEqualTo(4);
    assertThat(cache.nodes()).isZero();
    assertThat(cache.evictablePages()).isZero();
    assertThat(cache.protectedPages()).isZero();
  }

  /** Case T2. */
  @Test
  void aResetCacheIsEmpty() {
    Turns turns = new Turns(1);
    turns.insert(1, 2, 3);
    turns.cache.reset();
    assertThat(turns.total()).isZero();
    assertThat(turns.evictable()).isZero();
    assertThat(turns.locked()).isZero();
    assertThat(turns.free()).isEqualTo(turns.allocator.total());
  }

  /** Case T3. */
  @Test
  void insertedKeysAreFoundWithTheirPages() {
    Turns turns = new Turns(1);
    RadixKey key = turns.key("", 1, 2, 3);
    TreeNode root = turns.cache.lock(key, turns.cache.match(key, 3));
    int[] table = {
      turns.allocator.allocate(), turns.allocator.allocate(), turns.allocator.allocate()
    };
    PrefixMatch end = turns.cache.insert(root, key, 0, 3, table.clone(), true);
    turns.cache.unlock(end.node());
    assertThat(turns.total()).isEqualTo(3);
    assertThat(turns.evictable()).isEqualTo(3);
    assertThat(turns.pages(1, 2, 3)).isEqualTo(table);
    assertThat(turns.pages(1, 2)).isEqualTo(Arrays.copyOf(table, 2));
  }

  /** Case T3, of a disabled cache. */
  @Test
  void aCacheThatSharesNothingHoldsNothing() {
    PageAllocator allocator = new PageAllocator(8, page -> {});
    RadixCache cache = CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE).open(allocator, 1);
    RadixKey key = RadixKey.of(1, 2, 3);
    TreeNode node = cache.lock(key, cache.match(key, 3));
    int[] table = {allocator.allocate(), allocator.allocate(), allocator.allocate()};
    assertThat(cache.insert(node, key, 0, 3, table, true, 0).pages()).isZero();
    assertThat(allocator.cached()).isZero();
    assertThat(cache.match(key, 3).pages()).isZero();
  }

  /** Case T5. */
  @Test
  void theTotalGrowsByWhatIsNew() {
    Turns turns = new Turns(1);
    turns.insert(1, 2, 3);
    assertThat(turns.total()).isEqualTo(3);
    turns.insert(4, 5);
    assertThat(turns.total()).isEqualTo(5);
  }

  /** Case T8. */
  @Test
  void eachNamespaceHasPagesOfItsOwn() {
    Turns turns = new Turns(1);
    Set<Integer> pages = new HashSet<>();
    for (String namespace : new String[] {"key1", "key2", ""}) {
      RadixKey key = turns.key(namespace, 1, 2, 3);
      assertThat(turns.insert(key, 0)).isZero();
      Arrays.stream(turns.pages(key)).forEach(pages::add);
    }
    assertThat(pages).hasSize(9);
    assertThat(turns.matched(turns.key("unknown", 1, 2, 3))).isZero();
  }

  /** Case T9. */
  @Test
  void aLockMovesPagesFromEvictableToProtectedAndBack() {
    Turns turns = new Turns(1);
    turns.insert(1, 2, 3);
    TreeNode locked = turns.lock(1, 2, 3);
    assertThat(turns.locked()).isEqualTo(3);
    assertThat(turns.evictable()).isZero();
    turns.cache.unlock(locked);
    assertThat(turns.locked()).isZero();
    assertThat(turns.evictable()).isEqualTo(3);
  }

  /** Case T10. */
  @Test
  void evictedPagesAreFree() {
    Turns turns = new Turns(1);
    turns.insert(1, 2);
    turns.insert(3, 4);
    int free = turns.free();
    assertThat(turns.evict(2)).isEqualTo(2);
    assertThat(turns.free()).isEqualTo(free + 2);
    assertThat(turns.total()).isEqualTo(2);
  }

  /** Case T11. */
  @ParameterizedTest
  @CsvSource({"1, 5", "2, 5", "4, 6"})
  void onlyWholePagesAreFound(int pageTokens, int length) {
    Turns turns = new Turns(pageTokens);
    int[] tokens = IntStream.rangeClosed(1, length).toArray();
    turns.insert(tokens);
    assertThat(turns.matched(tokens)).isEqualTo(length / pageTokens * pageTokens).isPositive();
  }

  /** Case T12. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void lookUpsOfSharedPrefixesFindThePagesInsertedFirst(int pageTokens) {
    Turns turns = new Turns(pageTokens);
    turns.insert(1, 2, 3, 4, 5, 6, 7, 8);
    int[] pages = turns.pages(1, 2, 3, 4, 5, 6, 7, 8);
    assertThat(turns.insert(1, 2, 9, 10)).isEqualTo(2);
    assertThat(turns.total()).isEqualTo(10);

    assertThat(turns.pages(1, 2, 3, 4, 999, 1000)).isEqualTo(Arrays.copyOf(pages, 4 / pageTokens));
    assertThat(turns.pages(1, 2, 3, 4, 5, 6, 7, 8)).isEqualTo(pages);
    assertThat(turns.pages(1, 2, 3, 4, 5, 6, 777, 888))
        .isEqualTo(Arrays.copyOf(pages, 6 / pageTokens));
    int[] branch = turns.pages(1, 2, 9, 10);
    assertThat(branch).hasSize(4 / pageTokens).startsWith(Arrays.copyOf(pages, 2 / pageTokens));
    assertThat(turns.total()).isEqualTo(10);
  }

  /**
   * Case T16: a node that was split keeps nothing of what belongs to the others. A token id and, at
   * one token a page, a page number are 8 bytes a token where nothing is kept twice.
   */
  @Test
  void splitsLeaveNoCopiesOfLongPrefixesBehind() throws ReflectiveOperationException {
    int sequences = 10_000;
    int common = 10_000;
    int total = common + sequences * 100;
    Turns turns = new Turns(total, 1, EvictionPolicies.of("lru", total, 1));
    int[] tokens = IntStream.range(0, common + 100).toArray();
    for (int i = 0; i < sequences; i++) {
      tokens[common] = -i;
      turns.insert(tokens);
    }
    assertThat(turns.total()).isEqualTo(total);
    assertThat(bytesOfTokensAndPages(turns.lock(tokens)))
        .isBetween(8L * total, 8L * total + common);
  }

  /** Returns the bytes of tokens and pages of the tree in which {@code node} is. */
  private static long bytesOfTokensAndPages(TreeNode node) throws ReflectiveOperationException {
    Field tokens = accessible("tokens");
    Field pages = accessible("pages");
    TreeNode root = node;
    while (root.parent != null) {
      root = root.parent;
    }
    Deque<TreeNode> open = new ArrayDeque<>(List.of(root));
    long ints = 0;
    while (!open.isEmpty()) {
      TreeNode each = open.pop();
      ints += ((int[]) tokens.get(each)).length + ((int[]) pages.get(each)).length;
      each.children.forEach(open::push);
    }
    return ints * Integer.BYTES;
  }

  private static Field accessible(String name) throws ReflectiveOperationException {
    Field field = TreeNode.class.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
