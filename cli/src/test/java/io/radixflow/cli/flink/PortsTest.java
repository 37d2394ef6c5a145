package io.radixflow.cli.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class PortsTest {

  @Test
  void aPortIsFreeAndNoneThatAnOutgoingConnectionMayTake() throws Exception {
    int port = Ports.free();

    assertThat(port).isBetween(Ports.FIRST, Ports.END - 1);
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName(Ports.LOOPBACK))) {
      assertThat(socket.isBound()).isTrue();
    }
  }
}
