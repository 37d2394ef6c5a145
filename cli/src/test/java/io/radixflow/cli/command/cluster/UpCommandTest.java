package io.radixflow.cli.command.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.Cli;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UpCommandTest {

  @ParameterizedTest
  @CsvSource({
    "--port, the Kafka broker",
    "--gateway-port, the HTTP gateway",
    "--metrics-port, the page of Flink's metrics"
  })
  void aPortThatIsTakenIsNamedWithItsOptionBeforeAnythingStarts(String option, String who)
      throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      List<String> arguments = new ArrayList<>(List.of("up", "--model", "sim"));
      for (String port : List.of("--port", "--gateway-port", "--metrics-port")) {
        arguments.add(port + "=" + (port.equals(option) ? taken.getLocalPort() : 0));
      }
      Cli.Result result = new Cli().run(arguments.toArray(String[]::new));

      assertThat(result.code()).isEqualTo(1);
      assertThat(result.err())
          .contains(
              "port %d is taken, and %s was to listen there; choose another with %s, or 0 for any"
                  .formatted(taken.getLocalPort(), who, option));
    }
  }
}
