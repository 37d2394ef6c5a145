package io.radixflow.tools.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.tools.flink.WebPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WebPortITCase {

  @TempDir Path directory;

  @Test
  void theWebPortTakesNoCodeAndAnswersNoPageOfAnotherSite() throws Exception {
    try (LocalCluster cluster = LocalCluster.start(directory, 1, 0)) {
      WebPort port = new WebPort(cluster.webInterface());
      port.assertClosedToStrangers();

      assertThat(port.upload("/jars/upload").statusCode()).isEqualTo(403);
      assertThat(port.upload("/jobs").statusCode()).isEqualTo(403);
      assertThat(port.upload("/jobs/00000000000000000000000000000000/stop").statusCode())
          .isEqualTo(403);
      assertThat(uploads()).isEmpty();
    }
  }

  @Test
  void aPortForMetricsThatIsInUseIsNamed() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      assertThatThrownBy(() -> LocalCluster.start(directory, 1, taken.getLocalPort()))
          .isInstanceOf(IOException.class)
          .hasMessage("port %d, for metrics, is in use", taken.getLocalPort());
    }
  }

  private Stream<Path> uploads() throws IOException {
    return Files.walk(directory).filter(file -> file.getFileName().toString().equals("evil.jar"));
  }
}
