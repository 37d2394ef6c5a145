package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.cli.flink.Ports;
import io.radixflow.cli.flink.WebPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
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

  /** Why the settings are needed, and that the tests' uploads are whole. */
  @Test
  void flinkWithoutThemTakesAJarFromAPageOfAnotherSite() throws Exception {
    Configuration flink = new Configuration();
    flink.set(RestOptions.ADDRESS, Ports.LOOPBACK);
    flink.set(RestOptions.BIND_ADDRESS, Ports.LOOPBACK);
    flink.set(RestOptions.BIND_PORT, "0");
    flink.set(CoreOptions.TMP_DIRS, directory.toString());
    flink.set(WebOptions.TMP_DIR, directory.toString());
    flink.set(WebOptions.UPLOAD_DIR, directory.toString());
    try (MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(flink)
                .setNumTaskManagers(0)
                .build())) {
      cluster.start();
      WebPort port = new WebPort(cluster.getRestAddress().join());
      port.awaitLeader();
      HttpResponse<String> taken = port.upload("/jars/upload");

      assertThat(taken.statusCode()).as(taken.body()).isEqualTo(200);
      assertThat(taken.headers().firstValue("Access-Control-Allow-Origin")).hasValue("*");
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
