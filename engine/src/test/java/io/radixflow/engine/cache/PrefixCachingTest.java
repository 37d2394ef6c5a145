package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.cache.key.RadixKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The modes of the cache: what they have in common, and in what they differ. */
class PrefixCachingTest {
  private static final int[] TOKENS = {1, 2, 3, 4, 5, 6, 7, 8, 9};

  private final PageAllocator allocator = new PageAllocator(8, 2, page -> {});

  @ParameterizedTest
  @EnumSource
  void aRequestThatEndsLeavesNoPageBehindThatIsNotCached(PrefixCaching caching) {
    RadixCache cache = open(caching);
    run(cache, 1, true);
    assertThat(allocator.inFlight()).isZero();
    assertThat(cache.protectedPages()).isZero();
    assertThat(allocator.cached()).isEqualTo(cache.evictablePages());
    assertThat(PageAudit.repair(allocator, cache, tables -> {}, sessions -> {})).isZero();
    cache.reset();
    assertThat(allocator.free()).isEqualTo(8);
  }

  @Test
  void onlyTheRadixCacheSharesBetweenRequests() {
    assertThat(foundBy(open(PrefixCaching.RADIX), 1, 2, true)).isEqualTo(4);
    assertThat(foundBy(open(PrefixCaching.CHUNK), 1, 2, true)).isZero();
    assertThat(foundBy(open(PrefixCaching.NAIVE), 1, 2, true)).isZero();
  }

  @Test
  void aPreemptedRequestFindsItsChunksAgainUnlessNothingIsKept() {
    assertThat(foundBy(open(PrefixCaching.RADIX), 1, 1, false)).isEqualTo(4);
    assertThat(foundBy(open(PrefixCaching.CHUNK), 1, 1, false)).isEqualTo(4);
    assertThat(foundBy(open(PrefixCaching.NAIVE), 1, 1, false)).isZero();
  }

  @Test
  void chunksAreFreedWhenTheirRequestEnds() {
    RadixCache cache = open(PrefixCaching.CHUNK);
    run(cache, 1, false);
    assertThat(allocator.cached()).isEqualTo(4);
    run(cache, 1, true);
    assertThat(allocator.free()).isEqualTo(8);
  }

  private RadixCache open(PrefixCaching caching) {
    return CacheOptions.DEFAULT.withCaching(caching).open(allocator, 2);
  }

  /** Returns the pages that a second request finds after a first has ended or was preempted. */
  private int foundBy(RadixCache cache, long first, long second, boolean ended) {
    run(cache, first, ended);
    RadixKey key = cache.keyOf(second, "", 0, TOKENS, TOKENS.length);
    int found = cache.match(key, Integer.MAX_VALUE).pages();
    cache.reset();
    return found;
  }

  /** Does what the engine does with a request. */
  private void run(RadixCache cache, long request, boolean ended) {
    RadixKey key = cache.keyOf(request, "", 0, TOKENS, TOKENS.length);
    PrefixMatch match = cache.match(key, Integer.MAX_VALUE);
    TreeNode locked = cache.lock(key, match);
    int[] table = new int[allocator.pagesFor(TOKENS.length)];
    cache.copyPages(locked, match.pages(), table);
    allocator.allocExtend(table, 2 * match.pages(), TOKENS.length);
    PrefixMatch end = cache.insert(locked, key, match.pages(), key.pages(2), table, true, 0);
    for (int page : table) {
      if (allocator.isInFlight(page)) {
        allocator.free(page);
      }
    }
    cache.unlock(end.node(), ended);
  }
}
