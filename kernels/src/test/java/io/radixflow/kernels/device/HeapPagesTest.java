package io.radixflow.kernels.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class HeapPagesTest {

  @Test
  void morePagesThanTheHeapHasRoomForAreRefusedBeforeAnyIsAllocated() {
    long page = 1 << 20;
    int pages = (int) (2 * Runtime.getRuntime().maxMemory() / page);
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    long before = threads.getCurrentThreadAllocatedBytes();
    assertThatThrownBy(() -> new HeapPages(pages, page))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("host pages of " + pages + " MB do not fit into the heap, which has")
        .hasMessageContaining("use a smaller host tier or a larger -Xmx")
        .hasNoCause();
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(256 * page);
  }

  @Test
  void eachPageHasBytesOfItsOwn() {
    try (HeapPages pages = new HeapPages(3, 8)) {
      for (int page = 0; page < 3; page++) {
        pages.buffer(page).putLong(0, page + 1);
      }
      assertThat(pages.buffer(0)).extracting(ByteBuffer::capacity).isEqualTo(8);
      assertThat(pages.buffer(1).getLong(0)).isEqualTo(2);
      assertThat(pages.buffer(2).getLong(0)).isEqualTo(3);
      assertThatThrownBy(() -> pages.buffer(3)).isInstanceOf(IndexOutOfBoundsException.class);
    }
  }
}
