package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class ListeningSocketsTest {

  private static final long SELF = ProcessHandle.current().pid();

  @Test
  void aSocketOnLoopbackIsFoundUntilItIsClosed() throws Exception {
    InetSocketAddress address;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      address = (InetSocketAddress) socket.getLocalSocketAddress();
      assertThat(ListeningSockets.of(SELF)).contains(address);
    }
    assertThat(ListeningSockets.of(SELF)).doesNotContain(address);
  }

  @Test
  void aSocketOnAnotherLoopbackAddressKeepsItsBytesInOrder() throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.1.2.3"))) {
      assertThat(ListeningSockets.of(SELF))
          .contains((InetSocketAddress) socket.getLocalSocketAddress());
    }
  }
}
