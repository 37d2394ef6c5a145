package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.kernel.KernelProvider;
import io.radixflow.kernels.cpu.kernel.NativeIsas;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.ScalarKernels;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One constant for every JDK, provider and instruction set. If a change of the arithmetic is meant,
 * {@link CpuBackend#ARITHMETIC_VERSION} changes with it.
 */
class ArithmeticDigestTest {

  private static final String EXPECTED =
      "0ce11759476e8260fb70f0aced5210f25a2851c4906cb1d35567a81bd0dcf043";

  @Test
  void scalarKernelsGiveTheCommittedBits() throws Exception {
    assertThat(ArithmeticDigest.of(new ScalarKernels(), null)).isEqualTo(EXPECTED);
  }

  @ParameterizedTest
  @EnumSource(NativeKernels.Isa.class)
  void nativeKernelsGiveTheCommittedBits(NativeKernels.Isa isa) throws Exception {
    NativeKernels fast = NativeIsas.products(isa);
    assertThat(ArithmeticDigest.of(KernelProvider.of(fast), fast)).isEqualTo(EXPECTED);
  }

  @Test
  void javaWithoutVectorsGivesTheCommittedBits(@TempDir Path directory) throws Exception {
    assumeFlagsOfX86();
    assertThat(run("scalar", List.of("-XX:UseAVX=0"), directory)).isEqualTo("32 " + EXPECTED);
  }

  @Test
  void aJvmWithoutFlagsGivesTheCommittedBits(@TempDir Path directory) throws Exception {
    assertThat(run("best", List.of(), directory)).endsWith(" " + EXPECTED);
  }

  /** What a JVM computes with that has neither vectors nor fused multiply-adds of its own. */
  @Test
  void nativeProductsBesideScalarKernelsGiveTheCommittedBits(@TempDir Path directory)
      throws Exception {
    assumeFlagsOfX86();
    NativeKernels.Isa isa = NativeIsas.required().iterator().next();
    List<String> flags = List.of("-XX:UseAVX=0", "-XX:-UseFMA");
    assertThat(run("scalar", flags, directory, isa.name())).isEqualTo("32 " + EXPECTED);
  }

  private static void assumeFlagsOfX86() {
    String arch = System.getProperty("os.arch");
    Assumptions.assumeTrue(arch.equals("amd64") || arch.equals("x86_64"), "x86 flags");
  }

  /** The last line: before it the JVM may warn that the processor lacks a width. */
  private static String run(
      String provider, List<String> flags, Path directory, String... instructions)
      throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.addAll(List.of("-Xmx256m", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.addAll(List.of(ArithmeticDigest.class.getName(), provider));
    command.addAll(List.of(instructions));
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
