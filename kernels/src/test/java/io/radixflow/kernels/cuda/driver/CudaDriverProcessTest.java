package io.radixflow.kernels.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import jcuda.JCudaVersion;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process finds its driver, or says that there is none. */
class CudaDriverProcessTest {

  @TempDir Path temporary;
  private String emulator;

  @BeforeEach
  void find() {
    EmulatedGpu.requireEmulated();
    emulator = "-Dgpu.driver=" + System.getProperty(CudaDriver.LIBRARY_PROPERTY);
  }

  @Test
  void theDriverThatAPropertyNamesIsLoaded() throws Exception {
    assertThat(run(List.of(emulator))).containsExactly("CUDA 13000");
    assertThat(temporary).isEmptyDirectory();
  }

  @Test
  void withoutADriverTheMessageSaysWhatToInstall() throws Exception {
    assumeThat(Path.of("/proc/driver/nvidia")).doesNotExist();
    assertThat(run(List.of()))
        .singleElement()
        .asString()
        .startsWith("No CUDA driver: libcuda.so.1 was not found. Install NVIDIA's driver");
  }

  @Test
  void aDriverThatIsNotThereIsNamed() throws Exception {
    assertThat(run(List.of("-Dgpu.driver=/no/such/libcuda.so.1")))
        .singleElement()
        .asString()
        .startsWith("The CUDA driver /no/such/libcuda.so.1 (-Dgpu.driver) cannot be loaded");
  }

  @Test
  void aFileThatSomebodyLeftUnderJCudasNameIsNotUsed() throws Exception {
    String name = "libJCudaDriver-" + JCudaVersion.get() + "-linux-x86_64.so";
    Files.writeString(temporary.resolve(name), "not a library");
    assertThat(run(List.of(emulator))).containsExactly("CUDA 13000");
  }

  @Test
  void aSecondClassLoaderGetsAMessageThatNamesFlinksLib() throws Exception {
    assertThat(run(List.of(emulator), "again"))
        .hasSize(2)
        .last()
        .asString()
        .contains("put radixflow-kernels-lib.jar into lib of Flink");
  }

  private List<String> run(List<String> flags, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.add("-Djava.io.tmpdir=" + temporary);
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-XX:-UsePerfData");
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(DriverProcess.class.getName());
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    return output.lines().toList();
  }
}
