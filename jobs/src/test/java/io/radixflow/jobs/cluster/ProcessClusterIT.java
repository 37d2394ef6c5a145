package io.radixflow.jobs.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class ProcessClusterIT {

  @Test
  void everyProcessListensOnLoopbackAlone() throws Exception {
    try (ProcessCluster cluster =
        new ProcessCluster(
            Path.of("target/cluster/it"),
            Path.of("target/dist/lib"),
            Path.of("../kernels/target/radixflow-kernels-lib.jar"),
            Map.of())) {
      cluster.startTaskManager();
      for (JavaProcess process : cluster.processes()) {
        List<InetSocketAddress> addresses = ListeningSockets.of(process.pid());
        assertThat(addresses)
            .as(process.toString())
            .isNotEmpty()
            .allMatch(address -> address.getAddress().isLoopbackAddress());
      }
    }
  }

  @AfterEach
  void noProcessIsLeft() {
    assertThat(ProcessHandle.current().descendants()).isEmpty();
  }
}
