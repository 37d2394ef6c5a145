package io.radixflow.gateway.http;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;

/**
 * Closes a connection that has no request in progress for a while, because its client sends headers
 * slowly or does not use the connection. Belongs to the connection's event loop.
 */
final class IdleConnection {

  private static final long NONE = -1;

  private final HttpConnection connection;
  private final Vertx vertx;
  private final long millis;
  private long timer = NONE;
  private int inProgress;
  private boolean closed;

  IdleConnection(HttpConnection connection, Vertx vertx, long millis) {
    this.connection = connection;
    this.vertx = vertx;
    this.millis = millis;
    start();
  }

  private void start() {
    timer = vertx.setTimer(millis, idle -> connection.close());
  }

  /** Called when a request has come. */
  void began() {
    inProgress++;
    stop();
  }

  /** Called when a response is complete. */
  void ended() {
    inProgress--;
    if (inProgress == 0 && !closed) {
      start();
    }
  }

  /** Called when the connection is closed. */
  void closed() {
    closed = true;
    stop();
  }

  private void stop() {
    if (timer != NONE) {
      vertx.cancelTimer(timer);
      timer = NONE;
    }
  }
}
