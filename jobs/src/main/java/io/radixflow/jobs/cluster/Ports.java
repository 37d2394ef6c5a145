package io.radixflow.jobs.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Ports for processes to come. */
final class Ports {

  static final String LOOPBACK = "127.0.0.1";

  private Ports() {}

  /** A port of loopback that nobody uses now. */
  static int free() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(LOOPBACK))) {
      return socket.getLocalPort();
    }
  }
}
