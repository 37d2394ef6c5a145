package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.cluster.ListeningSockets;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoopbackITCase {

  @Test
  void brokerAndClusterListenOnLoopbackAlone(@TempDir Path directory) throws Exception {
    try (LocalBroker broker = LocalBroker.start(directory.resolve("broker"));
        LocalCluster cluster = LocalCluster.start(directory.resolve("flink"), 1, 0)) {
      List<InetSocketAddress> addresses = ListeningSockets.of(ProcessHandle.current().pid());
      assertThat(addresses)
          .extracting(InetSocketAddress::getPort)
          .contains(port(broker.bootstrapServers()), cluster.webInterface().getPort());
      assertThat(addresses).allMatch(address -> address.getAddress().isLoopbackAddress());
    }
  }

  private static int port(String hostAndPort) {
    return Integer.parseInt(hostAndPort.substring(hostAndPort.indexOf(':') + 1));
  }
}
