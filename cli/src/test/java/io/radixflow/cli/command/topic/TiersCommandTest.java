package io.radixflow.cli.command.topic;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.Cli;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TiersCommandTest {

  @ParameterizedTest
  @CsvSource({
    "atach,disk,1gb,Did you mean attach?",
    "attach,tape,1gb,it must be one of host disk.",
    "resize,disk,some,it must be a size such as 512mb or 20gb",
    "detach,disk,1gb,size is not a field of detach"
  })
  void anEventThatTheJobWouldRefuseIsNotSent(
      String action, String tier, String size, String message) {
    Cli.Result result = new Cli().run("tiers", action, tier, size, "--bootstrap", "localhost:1");
    assertThat(result.code()).isNotZero();
    assertThat(result.err().replace(", ", " ")).contains(message);
  }

  @Test
  void withoutABrokerAddressAndTopicAreNamed() {
    Cli.Result result =
        new Cli()
            .run(
                "tiers",
                "flush",
                "disk",
                "--bootstrap",
                "localhost:1",
                "--set",
                "kafka.connect-timeout=500ms");
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err())
        .contains("no Kafka broker answers at localhost:1, or it has no topic conversation-control")
        .hasLineCount(1);
  }
}
