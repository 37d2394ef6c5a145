package io.radixflow.operators.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

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
  void anAuditReturnsLeakedPagesAndTakesBackLostOnes() {
    RadixCache cache = new RadixCache(allocator, 1);
    PageAudit audit = new PageAudit(allocator, cache);
    int leaked = allocator.allocate();
    int held = allocator.allocate();
    assertThat(audit.repair(tables -> tables.accept(held))).isEqualTo(1);
    assertThat(allocator.agrees(leaked, false, false)).isTrue();
    assertThat(allocator.inFlight()).isEqualTo(1);
    allocator.free(held);
    assertThat(audit.repair(tables -> tables.accept(held))).isEqualTo(1);
    assertThat(allocator.isInFlight(held)).isTrue();
    assertThat(audit.repair(tables -> tables.accept(held))).isZero();
    assertThat(allocator.free()).isEqualTo(3);
  }
}
