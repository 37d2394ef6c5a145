package io.radixflow.tools.cluster;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for processes to come. They bind seconds later, so the ports are none that the system gives
 * to outgoing connections meanwhile: those begin at 32768 on Linux, higher elsewhere.
 */
final class Ports {

  static final String LOOPBACK = "127.0.0.1";

  static final int FIRST = 10_240;
  static final int END = 32_768;
  private static final int TRIES = 1000;

  private Ports() {}

  static int free() throws IOException {
    BindException inUse = null;
    for (int i = 0; i < TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, END);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName(LOOPBACK))) {
        return socket.getLocalPort();
      } catch (BindException e) {
        inUse = e;
      }
    }
    throw new IOException("no free port from " + FIRST + " to " + (END - 1), inUse);
  }
}
