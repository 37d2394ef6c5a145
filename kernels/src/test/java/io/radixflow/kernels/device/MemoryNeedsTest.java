package io.radixflow.kernels.device;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.models.TensorType;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MemoryNeedsTest {
  private static final long MB = 1 << 20;

  /** 1,000 million weights: 8 bits in the file, 9 in memory. */
  private static final MemoryNeeds NEEDS = needs(1000, 1062, 1125);

  private static MemoryNeeds needs(long elements, long file, long memory) {
    return new MemoryNeeds(
        "m",
        Map.of(
            TensorType.Q8_0, new MemoryNeeds.Sizes(elements * MB, file * MB, memory * MB),
            TensorType.F32, new MemoryNeeds.Sizes(MB, 4 * MB, 4 * MB)),
        0,
        50 * MB);
  }

  private static MemoryStatus memory(long available, long heap, long used) {
    return new MemoryStatus(16_000 * MB, 0, available * MB, heap * MB, used * MB, used * MB);
  }

  @Test
  void whatFitsIsAccepted() {
    assertThatCode(() -> NEEDS.require(() -> memory(9000, 1400, 50), 100 * MB, false))
        .doesNotThrowAnyException();
  }

  @Test
  void aPoolThatIsTooLargeIsRefusedWithTheLargestThatFits() {
    assertThatThrownBy(() -> NEEDS.require(() -> memory(9000, 2000, 50), 800 * MB, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the model m does not fit")
        .hasMessageContaining("weights need 1129 MB (Q8_0 1125 MB, F32 4 MB)")
        .hasMessageContaining("work space 50 MB, the KV pool 800 MB")
        .hasMessageContaining("2043 MB together")
        .hasMessageContaining("heap may take 2000 MB, of which 50 MB are in use")
        .hasMessageContaining("the machine has 16000 MB, of which 9000 MB are available")
        .hasMessageContaining("at most engine.kv-memory 707mb");
  }

  @Test
  void aHeapThatIsTooSmallForTheMachineIsNamed() {
    assertThatThrownBy(() -> NEEDS.require(() -> memory(9000, 1000, 0), MB, false))
        .hasMessageContaining("at least -Xmx1245m");
  }

  @Test
  void withoutMemoryForItASmallerQuantisationIsAdvised() {
    assertThatThrownBy(() -> NEEDS.require(() -> memory(1000, 2000, 0), MB, false))
        .hasMessageContaining("in Q4_0 its weights would take about 626 MB");
    assertThatThrownBy(() -> needs(1000, 562, 640).require(() -> memory(500, 2000, 0), MB, false))
        .hasMessageContaining("a machine with more memory");
  }

  @Test
  void aPoolOutsideTheHeapNeedsWhatTheHeapLeaves() {
    assertThatCode(() -> NEEDS.require(() -> memory(2100, 1400, 50), 750 * MB, true))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> NEEDS.require(() -> memory(2050, 1400, 50), 750 * MB, true))
        .hasMessageContaining("the KV pool 750 MB outside the heap")
        .hasMessageContaining("A smaller heap leaves enough: at most -Xmx1350m");
    assertThatThrownBy(() -> NEEDS.require(() -> memory(2000, 1400, 50), 800 * MB, true))
        .hasMessageContaining("at most engine.kv-memory 650mb");
    assertThatThrownBy(() -> NEEDS.require(() -> memory(9000, 1000, 0), MB, true))
        .hasMessageContaining("at least -Xmx1244m");
  }

  @Test
  void theLimitOfAContainerIsAmongTheNumbers() {
    MemoryStatus contained =
        new MemoryStatus(16_000 * MB, 1_100 * MB, 1_000 * MB, 2_000 * MB, 0, 0);

    assertThatThrownBy(() -> NEEDS.require(() -> contained, MB, false))
        .hasMessageContaining("the container's limit is 1100 MB");
  }

  @Test
  void garbageIsCollectedBeforeAModelIsRefused() {
    MemorySource garbage =
        new MemorySource() {
          @Override
          public MemoryStatus now() {
            return memory(9000, 2000, 1500);
          }

          @Override
          public MemoryStatus afterCollection() {
            return memory(9000, 2000, 50);
          }
        };

    assertThatCode(() -> NEEDS.require(garbage, MB, false)).doesNotThrowAnyException();
  }

  @Test
  void weightsAndPoolOutsideTheHeapNeedWhatTheHeapLeaves() {
    MemoryNeeds outside = new MemoryNeeds("m", NEEDS.weights(), 1125 * MB, NEEDS.workBytes());

    assertThatCode(() -> outside.require(() -> memory(1525, 300, 0), 100 * MB, true))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> outside.require(() -> memory(1200, 300, 0), 100 * MB, true))
        .hasMessageContaining("of which 1125 MB outside the heap")
        .hasMessageContaining("1343 MB together")
        .hasMessageContaining("1200 MB are available");
    assertThatThrownBy(() -> outside.require(() -> memory(1500, 300, 0), 100 * MB, true))
        .hasMessageContaining("A smaller heap leaves enough: at most -Xmx275m");
    assertThatThrownBy(() -> outside.require(() -> memory(1500, 100, 0), 100 * MB, true))
        .hasMessageContaining("at least -Xmx119m");
  }
}
