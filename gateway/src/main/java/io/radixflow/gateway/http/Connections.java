package io.radixflow.gateway.http;

import io.radixflow.gateway.topics.LogPace;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open connections. Connections beyond a limit are closed at once. A connection that has no
 * request in progress for a while is closed, because its client sends headers slowly or does not
 * use the connection. Thread-safe; each connection belongs to its event loop.
 */
final class Connections {

  private static final Logger LOG = LoggerFactory.getLogger(Connections.class);
  private static final long NONE = -1;

  private final int limit;
  private final long idleMillis;
  private final HttpMetrics metrics;
  private final Map<HttpConnection, Idle> byConnection = new ConcurrentHashMap<>();
  private final AtomicInteger open = new AtomicInteger();
  private final LogPace refused = new LogPace();

  Connections(int limit, long idleMillis, HttpMetrics metrics) {
    this.limit = limit;
    this.idleMillis = idleMillis;
    this.metrics = metrics;
  }

  /** Watches a new connection, or closes it if there are too many. */
  void connected(HttpConnection connection) {
    if (!admit()) {
      connection.close();
      return;
    }
    Idle idle = new Idle(connection, Vertx.currentContext().owner());
    byConnection.put(connection, idle);
    connection.closeHandler(
        closed -> {
          byConnection.remove(connection);
          closed();
          idle.close();
        });
  }

  /** Counts a new connection; returns false if there are too many. */
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
          "The gateway refused a connection because {} are open, the limit of"
              + " gateway.max-connections; it has refused {} since it started",
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

  /** Called when a request has come. */
  void began(HttpConnection connection, Exchange exchange) {
    Idle idle = byConnection.get(connection);
    if (idle != null) {
      idle.inProgress++;
      idle.stop();
      exchange.onOver(idle::ended);
    }
  }

  /** Closes one connection when it is idle. */
  private final class Idle {
    private final HttpConnection connection;
    private final Vertx vertx;
    private long timer = NONE;
    private int inProgress;
    private boolean closed;

    Idle(HttpConnection connection, Vertx vertx) {
      this.connection = connection;
      this.vertx = vertx;
      start();
    }

    void start() {
      timer = vertx.setTimer(idleMillis, late -> connection.close());
    }

    void ended() {
      inProgress--;
      if (inProgress == 0 && !closed) {
        start();
      }
    }

    void close() {
      closed = true;
      stop();
    }

    void stop() {
      if (timer != NONE) {
        vertx.cancelTimer(timer);
        timer = NONE;
      }
    }
  }
}
