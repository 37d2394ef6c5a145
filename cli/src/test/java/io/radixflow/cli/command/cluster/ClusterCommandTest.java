package io.radixflow.cli.command.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.Cli;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClusterCommandTest {
  private final Cli cli = new Cli();

  @ParameterizedTest
  @CsvSource({
    "--taskmanagers, 0",
    "--taskmanagers, 65",
    "--jobmanagers, 0",
    "--slots, -1",
    "--port, 65536",
    "--heap, much",
  })
  void aNumberThatMakesNoClusterIsRefusedBeforeAnythingStarts(String option, String value) {
    Cli.Result result = cli.run("cluster", "--model", "sim", option + "=" + value);

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains(option + " is " + value + "; it must be");
  }

  @Test
  void jarsThatAreNotBuiltAreNamed() {
    Cli.Result result =
        cli.run("cluster", "--model", "sim", "--jar", "no.jar", "--kernels-jar", "none.jar");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("there is no none.jar; build it");
  }
}
