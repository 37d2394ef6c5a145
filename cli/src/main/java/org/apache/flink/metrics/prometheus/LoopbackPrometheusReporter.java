package org.apache.flink.metrics.prometheus;

import io.prometheus.client.exporter.HTTPServer;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Iterator;

/**
 * Flink's Prometheus reporter on loopback. It is in Flink's package because the registry of the
 * metrics is visible there only, and Flink's own reporter cannot be bound to an address.
 */
public final class LoopbackPrometheusReporter extends AbstractPrometheusReporter {

  private final HTTPServer server;

  private LoopbackPrometheusReporter(InetSocketAddress address) throws IOException {
    server = new HTTPServer(address, registry, true);
  }

  /**
   * Starts listening.
   *
   * @param ports candidates; the first free port is used
   * @throws IllegalStateException if no port is free
   */
  public static LoopbackPrometheusReporter start(Iterator<Integer> ports) {
    BindException inUse = null;
    while (ports.hasNext()) {
      InetSocketAddress address =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), ports.next());
      try {
        return new LoopbackPrometheusReporter(address);
      } catch (BindException e) {
        inUse = e;
      } catch (IOException e) {
        throw new IllegalStateException("no metrics at " + address, e);
      }
    }
    throw new IllegalStateException("no port for metrics is free", inUse);
  }

  public int port() {
    return server.getPort();
  }

  @Override
  public void close() {
    server.stop();
    super.close();
  }
}
