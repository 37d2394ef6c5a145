package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PageAllocatorTest {
  private final List<Integer> freed = new ArrayList<>();
  private final PageAllocator allocator = new PageAllocator(4, freed::add);

  @Test
  void everyPageIsHandedOutOnce() {
    List<Integer> pages = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      pages.add(allocator.allocate());
    }
    assertThat(pages).containsExactlyInAnyOrder(0, 1, 2, 3);
    assertThat(allocator.allocate()).isEqualTo(-1);
    assertThat(allocator.inFlight()).isEqualTo(4);
  }

  @Test
  void aPageCannotBeFreedTwice() {
    int page = allocator.allocate();
    allocator.free(page);
    assertThatThrownBy(() -> allocator.free(page)).hasMessageContaining("twice");
    assertThat(allocator.free()).isEqualTo(4);
    assertThat(freed).containsExactly(page);
  }

  @Test
  void onlyARequestsOwnPageCanBeCached() {
    int page = allocator.allocate();
    allocator.cache(page);
    assertThat(allocator.cached()).isEqualTo(1);
    assertThatThrownBy(() -> allocator.cache(page)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> allocator.cache(page == 0 ? 1 : 0))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void pagesFreedInAGroupAreFreeAtItsEnd() {
    int first = allocator.allocate();
    int second = allocator.allocate();
    allocator.beginFreeGroup();
    allocator.free(first);
    assertThatThrownBy(() -> allocator.free(first)).hasMessageContaining("twice");
    assertThat(allocator.free()).isEqualTo(2);
    int third = allocator.allocate();
    int fourth = allocator.allocate();
    assertThat(allocator.allocate()).isEqualTo(-1);
    allocator.free(second);
    assertThatThrownBy(allocator::beginFreeGroup).hasMessageContaining("open already");
    allocator.endFreeGroup();
    assertThat(List.of(third, fourth)).doesNotContain(first, second);
    assertThat(allocator.free()).isEqualTo(2);
    assertThat(List.of(allocator.allocate(), allocator.allocate()))
        .containsExactlyInAnyOrder(first, second);
    assertThatThrownBy(allocator::endFreeGroup).hasMessageContaining("no group");
  }

  @ParameterizedTest
  @CsvSource({
    "8, 5, 6, 2, 0",
    "8, 7, 10, 2, 2",
    "8, 8, 9, 5, 5",
    "8, 8, 9, 2, 2",
    "8, 8, 9, 3, 3",
    "16, 14, 15, 4, 0",
    "32, 30, 31, 4, 0",
    "64, 62, 63, 4, 0",
    "128, 126, 127, 4, 0",
    "1, 3, 7, 1, 4",
    "4, 0, 9, 1, 3"
  })
  void growingTakesOnlyThePagesThatBegin(
      int pageTokens, int before, int tokens, int requests, int pages) {
    PageAllocator paged = new PageAllocator(16, pageTokens, page -> {});
    assertThat(requests * (paged.pagesFor(tokens) - paged.pagesFor(before))).isEqualTo(pages);
    int[][] tables = new int[requests][paged.pagesFor(tokens)];
    for (int[] table : tables) {
      assertThat(paged.allocExtend(table, 0, before)).isTrue();
    }
    int free = paged.free();
    for (int[] table : tables) {
      assertThat(paged.allocExtend(table, before, tokens)).isTrue();
    }
    assertThat(free - paged.free()).isEqualTo(pages);
    assertThat(Arrays.stream(tables).flatMapToInt(Arrays::stream).distinct().count())
        .isEqualTo(16 - paged.free());
  }

  @Test
  void aRequestGetsAllPagesThatItAsksForOrNone() {
    PageAllocator paged = new PageAllocator(2, 8, page -> {});
    int[] table = new int[4];
    assertThat(paged.allocExtend(table, 0, 17)).isFalse();
    assertThat(paged.free()).isEqualTo(2);
    assertThat(paged.allocExtend(table, 0, 7)).isTrue();
    assertThat(paged.allocDecode(table, 8)).isTrue();
    assertThat(paged.free()).isEqualTo(1);
    assertThat(paged.allocDecode(table, 9)).isTrue();
    assertThat(paged.free()).isZero();
    assertThat(paged.allocDecode(table, 17)).isFalse();
  }

  @Test
  void anAuditReturnsLeakedPagesAndTakesBackLostOnes() {
    RadixCache cache = new RadixCache(allocator, 1, EvictionPolicies.of("lru", 1, 1), 0);
    int leaked = allocator.allocate();
    int held = allocator.allocate();
    assertThat(PageAudit.repair(allocator, cache, tables -> tables.accept(held), sessions -> {}))
        .isEqualTo(1);
    assertThat(allocator.agrees(leaked, false, false, false)).isTrue();
    assertThat(allocator.inFlight()).isEqualTo(1);
    allocator.free(held);
    assertThat(PageAudit.repair(allocator, cache, tables -> tables.accept(held), sessions -> {}))
        .isEqualTo(1);
    assertThat(allocator.isInFlight(held)).isTrue();
    assertThat(PageAudit.repair(allocator, cache, tables -> tables.accept(held), sessions -> {}))
        .isZero();
    assertThat(allocator.free()).isEqualTo(3);
  }
}
