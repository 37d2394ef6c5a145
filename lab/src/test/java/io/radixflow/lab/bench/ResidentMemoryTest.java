package io.radixflow.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ResidentMemoryTest {

  @Test
  void theFiguresAreReadFromTheKernelsLines() {
    List<String> lines = List.of("Name:\tjava", "VmHWM:\t    2048 kB", "VmRSS:\t    1024 kB");
    List<String> shares = List.of("Rss:    1024 kB", "Pss:     512 kB", "Pss_Dirty:  4 kB");

    assertThat(ResidentMemory.parse(lines, shares))
        .isEqualTo(new ResidentMemory(1 << 20, 2 << 20, 1 << 19));
  }

  @Test
  void theShareMayBeUnknown() {
    List<String> lines = List.of("VmHWM:\t    2048 kB", "VmRSS:\t    1024 kB");

    assertThat(ResidentMemory.parse(lines, List.of()))
        .isEqualTo(new ResidentMemory(1 << 20, 2 << 20, -1));
  }

  @Test
  void withoutTheFiguresThereIsNone() {
    assertThat(ResidentMemory.parse(List.of("Name:\tjava", "VmRSS:\t kB"), List.of())).isNull();
  }
}
