package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Asserts what SGLang's and mini-SGLang's tests of their allocators assert, on pages. */
class AllocatorCasesTest {

  /** Case A1, of the device's pages; no page can be asked for by its number. */
  @Test
  void aPageThatIsFreeCannotBeFreed() {
    PageAllocator allocator = new PageAllocator(4, page -> {});
    assertThatIllegalStateException().isThrownBy(() -> allocator.free(2));
    int page = allocator.allocate();
    allocator.free(page);
    assertThatIllegalStateException().isThrownBy(() -> allocator.free(page));
    assertThat(allocator.free()).isEqualTo(4);
  }

  /** Case A1, of pages that a reset has freed. */
  @Test
  void aPageOfACacheThatWasResetCannotBeFreed() {
    Turns turns = new Turns(1);
    turns.insert(1);
    int page = turns.pages(1)[0];
    turns.cache.reset();
    assertThatIllegalStateException().isThrownBy(() -> turns.allocator.free(page));
    assertThat(turns.free()).isEqualTo(turns.allocator.total());
  }

  /** Case A2: so many requests with 8 tokens a page each grow by what they need of a pool. */
  @ParameterizedTest
  @CsvSource({
    "2, 5, 6, 2, 0, true",
    "2, 7, 10, 2, 2, true",
    "5, 8, 9, 1, 5, false",
    "2, 8, 9, 2, 2, true",
    "3, 8, 9, 2, 3, false"
  })
  void thePagesThatABatchNeedsAreKnownBeforeAnyIsTaken(
      int requests, int before, int tokens, int freePages, int needed, boolean fits) {
    PageAllocator allocator = new PageAllocator(freePages, 8, page -> {});
    int pages = requests * (allocator.pagesFor(tokens) - allocator.pagesFor(before));
    assertThat(pages).isEqualTo(needed);
    assertThat(pages <= allocator.free()).isEqualTo(fits);
    int[] table = new int[allocator.pagesFor(tokens)];
    int served = 0;
    while (served < requests && allocator.allocExtend(table, before, tokens)) {
      served++;
    }
    assertThat(served == requests).isEqualTo(fits);
  }

  /** Case A2. */
  @ParameterizedTest
  @ValueSource(ints = {16, 32, 64, 128})
  void aTokenThatFitsTheLastPageNeedsNone(int pageTokens) {
    PageAllocator allocator = new PageAllocator(0, pageTokens, page -> {});
    assertThat(allocator.pagesFor(pageTokens - 1) - allocator.pagesFor(pageTokens - 2)).isZero();
    assertThat(allocator.allocDecode(new int[1], pageTokens - 1)).isTrue();
  }

  /** Case A3: of a full pool, in which some pages are cached and the others in use. */
  @ParameterizedTest
  @CsvSource({"4, 4, 2, 1", "4, 4, 3, 2", "8, 8, 4, 4"})
  void anExhaustedPoolYieldsWhatIsCached(int pageTokens, int pages, int cached, int wanted) {
    Turns turns = new Turns(pages, pageTokens, EvictionPolicies.of("lru", pages, 1));
    turns.insert(IntStream.range(0, cached * pageTokens).toArray());
    List<Integer> taken = take(turns.allocator, pages - cached);
    assertThat(turns.allocator.allocate()).isEqualTo(-1);

    assertThat(turns.cache.evict(wanted)).isEqualTo(wanted);
    taken.addAll(take(turns.allocator, wanted));

    assertThat(taken).doesNotHaveDuplicates().doesNotContain(-1).hasSize(pages - cached + wanted);
    assertThat(turns.allocator.cached()).isEqualTo(cached - wanted);
    assertThat(turns.allocator.free()).isZero();
  }

  /** Case A3: free and cached pages are all there are, and the free ones go first. */
  @Test
  void cachedPagesAreTakenOnlyWhenNoneIsFree() {
    Turns turns = new Turns(8, 4, EvictionPolicies.of("lru", 8, 1));
    turns.insert(IntStream.range(0, 8).toArray());
    assertThat(turns.allocator.free() + turns.allocator.cached()).isEqualTo(8);
    List<Integer> taken = take(turns.allocator, 6);
    assertThat(turns.allocator.cached()).isEqualTo(2);
    assertThat(turns.cache.evict(1)).isEqualTo(1);
    taken.addAll(take(turns.allocator, 1));
    assertThat(taken).doesNotHaveDuplicates().doesNotContain(-1);
    assertThat(turns.matched(IntStream.range(0, 8).toArray())).isEqualTo(4);
  }

  private static List<Integer> take(PageAllocator allocator, int count) {
    List<Integer> taken = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      taken.add(allocator.allocate());
    }
    return taken;
  }

  /** Case A4: a request of five tokens, three of which are cached or none; here a root is free. */
  @ParameterizedTest
  @ValueSource(ints = {3, 0})
  void aRequestThatEndsOrFailsLeavesNoLockBehind(int cached) {
    Turns turns = new Turns(1);
    int[] request = {1, 2, 3, 4, 5};
    turns.insert(IntStream.rangeClosed(1, cached).toArray());
    for (int i = 0; i < 3; i++) {
      TreeNode locked = turns.lock(request);
      assertThat(turns.locked()).isEqualTo(cached);
      turns.cache.unlock(locked, false);
      assertThat(turns.locked()).isZero();
      assertThat(turns.evictable()).isEqualTo(cached);
      assertThat(turns.allocator.inFlight()).isZero();
    }
    TreeNode unfinished = turns.hold(request);
    assertThat(turns.locked()).isEqualTo(5);
    turns.cache.unlock(unfinished);
    assertThat(turns.locked()).isZero();
    assertThat(turns.evictable()).isEqualTo(5);
    assertThat(turns.free()).isEqualTo(turns.allocator.total() - 5);
  }

  /** Case A4: locking takes from what could be evicted, which is known before it is done. */
  @Test
  void thePagesThatALockTakesAreKnownBeforeItIsTaken() {
    Turns turns = new Turns(4, 1, EvictionPolicies.of("lru", 4, 1));
    turns.insert(1, 2, 3);
    RadixKey key = turns.key("", 1, 2, 3, 4, 5);
    PrefixMatch match = turns.cache.match(key, Integer.MAX_VALUE);
    int before = turns.allocator.free() + turns.cache.evictablePages();
    int left = before - turns.cache.evictablePages(match);
    assertThat(left).isEqualTo(1).isLessThan(key.length() - match.pages());
    TreeNode locked = turns.cache.lock(key, match);
    assertThat(turns.allocator.free() + turns.cache.evictablePages()).isEqualTo(left);
    turns.cache.unlock(locked, false);
    assertThat(turns.allocator.free() + turns.cache.evictablePages()).isEqualTo(before);
  }
}
