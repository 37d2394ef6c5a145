package io.radixflow.kernels.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SystemMemoryTest {
  private static final long GB = 1L << 30;

  @TempDir Path root;

  @BeforeEach
  void aMachineOf16GigabytesWith12Available() throws IOException {
    file("proc/meminfo", "MemTotal:  16777216 kB\nMemFree: 5 kB\nMemAvailable:  12582912 kB\n");
  }

  private void file(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private MemoryStatus status() {
    return new SystemMemory(root).now();
  }

  @Test
  void withoutALimitAllThatTheMachineHasAvailableMayBeTaken() throws IOException {
    file("proc/self/cgroup", "0::/\n");
    file("sys/fs/cgroup/memory.max", "max\n");

    assertThat(status().machine()).isEqualTo(16 * GB);
    assertThat(status().container()).isZero();
    assertThat(status().available()).isEqualTo(12 * GB);
    assertThat(status().heap()).isEqualTo(Runtime.getRuntime().maxMemory());
  }

  @Test
  void aContainersLimitCountsAndPagesOfFilesThatCanBeDroppedAreFree() throws IOException {
    file("proc/self/cgroup", "0::/\n");
    file("sys/fs/cgroup/memory.max", 4 * GB + "\n");
    file("sys/fs/cgroup/memory.current", 3 * GB + "\n");
    file("sys/fs/cgroup/memory.stat", "anon 1\ninactive_file " + GB + "\nactive_file 7\n");

    assertThat(status().container()).isEqualTo(4 * GB);
    assertThat(status().available()).isEqualTo(2 * GB);
  }

  @Test
  void theTightestGroupAboveTheProcessDecides() throws IOException {
    file("proc/self/cgroup", "0::/kubepods/pod7\n");
    file("sys/fs/cgroup/kubepods/memory.max", 2 * GB + "\n");
    file("sys/fs/cgroup/kubepods/memory.current", GB + "\n");
    file("sys/fs/cgroup/kubepods/pod7/memory.max", 8 * GB + "\n");

    assertThat(status().container()).isEqualTo(2 * GB);
    assertThat(status().available()).isEqualTo(GB);
  }

  @Test
  void groupsOfVersionOneAreRead() throws IOException {
    file("proc/self/cgroup", "7:cpu,memory:/docker/ab\n0::/\n");
    file("sys/fs/cgroup/memory/memory.limit_in_bytes", 4 * GB + "\n");
    file("sys/fs/cgroup/memory/memory.usage_in_bytes", 3 * GB + "\n");
    file("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file " + GB + "\n");

    assertThat(status().container()).isEqualTo(4 * GB);
    assertThat(status().available()).isEqualTo(2 * GB);
  }

  @Test
  void aGroupOutsideTheMountIsReadAtTheMount() throws IOException {
    file("proc/self/cgroup", "0::/../../elsewhere\n");
    file("sys/fs/cgroup/memory.max", 4 * GB + "\n");

    assertThat(status().container()).isEqualTo(4 * GB);
  }

  @Test
  void whereNothingCanBeReadTheJvmSaysWhatThereIs() throws IOException {
    Files.delete(root.resolve("proc/meminfo"));

    assertThat(status().machine()).isGreaterThan(1 << 20);
    assertThat(status().available()).isPositive();
  }
}
