package io.radixflow.kernels.cpu.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OffHeapTest {

  @BeforeEach
  void natives() {
    NativeIsas.required();
  }

  @Test
  void unitsAreZeroedAndFollowEachOther() {
    try (OffHeap memory = new OffHeap(3, 24)) {
      memory.buffer(1).putLong(memory.at(1) + 16, 7);

      assertThat(memory.buffer(1).getLong(memory.at(1))).isZero();
      assertThat(memory.buffer(1).getLong(memory.at(2) - 8)).isEqualTo(7);
      assertThat(memory.address(2) - memory.address(0)).isEqualTo(48);
      assertThatThrownBy(() -> memory.address(3)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> memory.address(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  /** No flag of the JVM limits the memory; pages that nobody writes cost nothing. */
  @Test
  void memoryMayBeLargerThanABuffer() {
    try (OffHeap memory = new OffHeap(3, 1 << 30)) {
      memory.buffer(2).put(memory.at(2) + (1 << 30) - 1, (byte) 5);

      assertThat(memory.address(2) - memory.address(0)).isEqualTo(2L << 30);
      assertThat(memory.buffer(2)).isNotSameAs(memory.buffer(0));
    }
  }

  @Test
  void closedMemoryHasNoAddressAndGoesBackToTheSystem() throws IOException {
    long before = AddressSpace.megabytes();
    for (int i = 0; i < 100; i++) {
      OffHeap memory = new OffHeap(1, 1 << 28);
      memory.close();
      memory.close();
      assertThatThrownBy(() -> memory.address(0)).isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThat(AddressSpace.megabytes() - before).isLessThan(100 << 8);
  }

  @Test
  void moreThanTheSystemHasIsRefused() {
    assertThatThrownBy(() -> new OffHeap(Integer.MAX_VALUE, 1 << 30))
        .isInstanceOf(OutOfMemoryError.class)
        .hasMessageContaining("bytes of memory");
  }
}
