package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.kernel.NativeIsas;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Native code leaves the collector alone, so no JVM flag is needed on any Java version. */
class BusyHeapTest {

  /** On Java 17, pinned arrays would make some of the threads run out of memory. */
  @ParameterizedTest
  @ValueSource(strings = {"-XX:+UseG1GC", "-XX:+UseSerialGC"})
  void threadsThatAllocateDuringStepsAlwaysGetMemory(String collector)
      throws IOException, InterruptedException {
    NativeIsas.required();
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classes = System.getProperty("java.class.path");
    Process process =
        new ProcessBuilder(
                java, collector, "-Xmx64m", "-cp", classes, BusyHeap.class.getName(), "8")
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes());

    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output).contains("enough memory").doesNotContain("GCLocker");
  }

  @Test
  void nativeCodePinsNoArray() throws IOException {
    try (Stream<Path> sources = Files.list(Path.of("src/main/c"))) {
      for (Path source : sources.filter(Files::isRegularFile).toList()) {
        assertThat(source).content().doesNotContain("Critical");
      }
    }
  }
}
