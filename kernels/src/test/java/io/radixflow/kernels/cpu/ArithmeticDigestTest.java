package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.kernel.KernelProvider;
import io.radixflow.kernels.cpu.kernel.ScalarKernels;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One constant for every JDK, provider and vector width. If a change of the arithmetic is meant,
 * {@link CpuBackend#ARITHMETIC_VERSION} changes with it.
 */
class ArithmeticDigestTest {

  private static final String EXPECTED =
      "1e9eede1dc4240dc9b5a22abeb20bd2c3fe8f799b0caa16c5fbe6e01dc9f3101";

  @Test
  void scalarKernelsGiveTheCommittedBits() throws Exception {
    assertThat(ArithmeticDigest.of(new ScalarKernels())).isEqualTo(EXPECTED);
  }

  @Test
  void vectorKernelsGiveTheCommittedBits() throws Exception {
    assertThat(ArithmeticDigest.of(KernelProvider.vector().orElseThrow())).isEqualTo(EXPECTED);
  }

  /** Widths that the machine lacks fall back to narrower ones, which the output shows. */
  static Stream<Arguments> flags() {
    return Stream.of(
        Arguments.of("scalar", 32, List.of("-XX:UseAVX=0")),
        Arguments.of("vector", 128, List.of("-XX:UseAVX=2", "-XX:MaxVectorSize=16")),
        Arguments.of("vector", 256, List.of("-XX:UseAVX=2")),
        Arguments.of("vector", 512, List.of("-XX:UseAVX=3")));
  }

  @ParameterizedTest
  @MethodSource("flags")
  void everyVectorWidthGivesTheCommittedBits(
      String provider, int mostBits, List<String> flags, @TempDir Path directory) throws Exception {
    String arch = System.getProperty("os.arch");
    Assumptions.assumeTrue(arch.equals("amd64") || arch.equals("x86_64"), "x86 flags");
    String[] words = run(provider, flags, directory).split(" ");
    assertThat(Integer.parseInt(words[0])).isLessThanOrEqualTo(mostBits);
    assertThat(words[1]).isEqualTo(EXPECTED);
  }

  @Test
  void withoutTheModuleEverythingLoadsAndRunsScalar(@TempDir Path directory) throws Exception {
    assertThat(run("best", List.of(), directory)).isEqualTo("32 " + EXPECTED);
  }

  /** The last line: before it the JVM may warn that the processor lacks a width. */
  private static String run(String provider, List<String> flags, Path directory) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    if (!provider.equals("best")) {
      command.addAll(List.of("--add-modules", "jdk.incubator.vector"));
    }
    command.addAll(List.of("-Xmx256m", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.addAll(List.of(ArithmeticDigest.class.getName(), provider));
    File output = directory.resolve("out").toFile();
    File errors = directory.resolve("err").toFile();
    Process process =
        new ProcessBuilder(command).redirectOutput(output).redirectError(errors).start();
    assertThat(process.waitFor(10, TimeUnit.MINUTES)).isTrue();
    String said = Files.readString(errors.toPath(), StandardCharsets.UTF_8);
    assertThat(process.exitValue()).as(said).isZero();
    List<String> lines = Files.readAllLines(output.toPath());
    return lines.get(lines.size() - 1);
  }
}
