package io.radixflow.gateway.http;

import io.radixflow.gateway.topics.LogPace;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts open connections, and refuses connections beyond a limit. Thread-safe. */
final class ConnectionCount {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionCount.class);

  private final int limit;
  private final HttpMetrics metrics;
  private final AtomicInteger open = new AtomicInteger();
  private final LogPace refused = new LogPace();

  ConnectionCount(int limit, HttpMetrics metrics) {
    this.limit = limit;
    this.metrics = metrics;
  }

  /** Counts a new connection; returns false if there are too many, and the caller must close it. */
  boolean admit() {
    if (open.incrementAndGet() <= limit) {
      metrics.connectionOpened();
      return true;
    }
    open.decrementAndGet();
    metrics.connectionRefused();
    long count = refused.due();
    if (count > 0) {
      LOG.warn(
          "The gateway refused a connection because {} are open, the limit of "
              + "gateway.max-connections;"
              + " it has refused {} since it started",
          limit,
          count);
    }
    return false;
  }

  /** Called when an admitted connection has closed. */
  void closed() {
    open.decrementAndGet();
    metrics.connectionClosed();
  }
}
