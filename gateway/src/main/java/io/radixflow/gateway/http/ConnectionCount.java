package io.radixflow.gateway.http;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts open connections, and refuses connections beyond a limit. Thread-safe. */
final class ConnectionCount {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionCount.class);

  /** Refusals come in bursts, so they are logged together after this time. */
  private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final int limit;
  private final HttpMetrics metrics;
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong logged = new AtomicLong(System.nanoTime() - LOG_NANOS);

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
    long count = refused.incrementAndGet();
    long last = logged.get();
    long time = System.nanoTime();
    if (time - last >= LOG_NANOS && logged.compareAndSet(last, time)) {
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
