package io.radixflow.cli.flink;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Chooses ports for processes that bind them seconds later. The ports are below 32768, because the
 * system may give higher ports to outgoing connections meanwhile.
 */
public final class Ports {

  public static final String LOOPBACK = "127.0.0.1";

  static final int FIRST = 10_240;
  static final int END = 32_768;
  private static final int TRIES = 1000;

  /** Ports that were given out; the processes may not have bound them yet. */
  private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

  private Ports() {}

  public static int free() throws IOException {
    BindException inUse = null;
    for (int i = 0; i < TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, END);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName(LOOPBACK))) {
        if (GIVEN.add(port)) {
          return socket.getLocalPort();
        }
      } catch (BindException e) {
        inUse = e;
      }
    }
    throw new IOException("no free port from " + FIRST + " to " + (END - 1), inUse);
  }

  /**
   * Refuses a port at which something else listens.
   *
   * @param what the port is for
   */
  public static void requireFree(int port, String what) throws IOException {
    try {
      new ServerSocket(port, 1, InetAddress.getByName(LOOPBACK)).close();
    } catch (BindException e) {
      throw new IOException("port " + port + ", for " + what + ", is in use", e);
    }
  }
}
