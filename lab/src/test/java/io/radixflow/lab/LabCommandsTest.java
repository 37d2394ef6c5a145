package io.radixflow.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.Cli;
import org.junit.jupiter.api.Test;

class LabCommandsTest {

  @Test
  void theCommandLineFindsTheCommandsOfTheLab() {
    assertThat(new Cli().commandLine().getSubcommands()).containsKeys("bench", "drill", "cache");
    assertThat(new Cli().commandLine().getSubcommands().get("cache").getSubcommands())
        .containsKeys("content", "simulate", "workload", "replay", "bench");
  }

  @Test
  void anUnknownBenchmarkIsNamed() {
    Cli.Result result = new Cli().run("bench", "chatt");

    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).startsWith("radixflow: unknown command 'chatt'");
  }
}
