package io.radixflow.engine.tier.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.HostPagesAndParts;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Window parts in host memory: they have room of their own, and go with their page at the latest.
 */
class HostWindowsTest {
  private final HostTier host = new HostTier(memory(4, 2), 1);

  private static HostPages memory(int pages, int parts) {
    return HostPagesAndParts.inHeap(pages, 64, parts, 128);
  }

  private static TierPage page(int number) {
    return new TierPage(new PageId(number, number, number, number), null, "", 0);
  }

  private HostPage add(TierPage page) {
    HostPage entry = host.allocate(page, true);
    host.ready(entry, 0);
    host.unlock(entry);
    return entry;
  }

  @AfterEach
  void eachSlotHasOneOwner() {
    assertThat(host.audit()).isTrue();
    host.memory().close();
  }

  @Test
  void aPartGoesWithItsPage() {
    HostPage page = add(page(1));
    HostPage window = add(page(1).window());
    assertThat(host.buffer(page).capacity()).isEqualTo(64);
    assertThat(host.buffer(window).capacity()).isEqualTo(128);
    assertThat(host.used()).isEqualTo(1);
    assertThat(host.usedParts()).isEqualTo(1);
    host.remove(page);
    assertThat(host.get(window.id())).isNull();
    assertThat(host.usedParts()).isZero();
  }

  @Test
  void theLeastRecentlyUsedPartMakesRoomForAnotherAndNoPageDoes() {
    for (int number = 1; number <= 3; number++) {
      add(page(number));
      add(page(number).window());
      host.used(host.get(page(1).window().id()));
    }
    assertThat(host.get(page(2).window().id())).isNull();
    assertThat(host.get(page(1).window().id())).isNotNull();
    assertThat(host.used()).isEqualTo(3);
  }

  @Test
  void partsThatAreLockedLeaveNoRoom() {
    host.allocate(page(1).window(), true);
    host.allocate(page(2).window(), true);
    assertThat(host.allocate(page(3).window(), true)).isNull();
    assertThat(host.allocate(page(3), true)).isNotNull();
  }

  @Test
  void pagesAndPartsMoveToOtherMemory() {
    add(page(1));
    HostPage window = add(page(1).window());
    host.buffer(window).put(0, (byte) 7);
    HostPages other = memory(3, 1);
    Map<HostPage, Integer> slots = host.slotsIn(other);
    slots.forEach((page, slot) -> other.buffer(slot).put(host.buffer(page)));
    host.moveTo(other, slots).close();
    assertThat(host.buffer(host.get(window.id())).get(0)).isEqualTo((byte) 7);
    assertThat(host.total()).isEqualTo(3);
  }
}
