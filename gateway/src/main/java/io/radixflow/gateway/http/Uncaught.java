package io.radixflow.gateway.http;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.spi.context.storage.ContextLocal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles uncaught exceptions of handlers, timers and tasks. All handlers of an exchange run in its
 * own context, so the failed exchange is known and is ended. Runs on event loops.
 */
final class Uncaught {

  private static final Logger LOG = LoggerFactory.getLogger(Uncaught.class);

  private static final ContextLocal<Exchange> EXCHANGE = ContextLocal.registerLocal(Exchange.class);

  private Uncaught() {}

  /** Starts a Vert.x instance in which every failed exchange ends. */
  static Vertx vertx(VertxOptions options) {
    return Vertx.vertx(options).exceptionHandler(Uncaught::thrown);
  }

  /** Ends an exchange when its context has an uncaught exception. */
  static void watch(Context context, Exchange exchange) {
    context.putLocal(EXCHANGE, exchange);
  }

  private static void thrown(Throwable cause) {
    Context context = Vertx.currentContext();
    Exchange exchange = context == null ? null : context.getLocal(EXCHANGE);
    if (exchange == null) {
      LOG.error("A callback of the HTTP server failed outside of any request", cause);
    } else {
      exchange.fail(cause);
    }
  }
}
