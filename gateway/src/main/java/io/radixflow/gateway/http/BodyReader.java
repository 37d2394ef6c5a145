package io.radixflow.gateway.http;

import io.radixflow.protocol.fair.FairLimit;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.function.BiConsumer;

/**
 * Reads the body of one request within the limits: the size of one body, the memory that all bodies
 * share, and a time limit. Belongs to the event loop of its exchange.
 */
final class BodyReader {

  private final HttpServerRequest request;
  private final Exchange exchange;
  private final HttpLimits limits;
  private final FairLimit memory;
  private final Buffer body = Buffer.buffer();
  private long timer;
  private int taken;
  private boolean done;

  /**
   * @param memory counts the bytes of all readers
   */
  BodyReader(HttpServerRequest request, Exchange exchange, HttpLimits limits, FairLimit memory) {
    this.request = request;
    this.exchange = exchange;
    this.limits = limits;
    this.memory = memory;
  }

  /**
   * Starts reading. If reading fails, the client gets an error.
   *
   * @param then receives the whole body, and an action to run when the body's memory is no longer
   *     needed
   */
  void read(Vertx vertx, BiConsumer<Buffer, Runnable> then) {
    if (declaredLength() > limits.maxBody()) {
      exchange.refuse(ApiException.tooLarge(limits.maxBody()));
      return;
    }
    timer = vertx.setTimer(limits.requestMillis(), late -> stop(tooSlow()));
    exchange.onGone(() -> finish(vertx));
    request.exceptionHandler(
        failure -> stop(ApiException.badRequest(null, "the body is not valid HTTP")));
    request.handler(this::add);
    request.endHandler(
        end -> {
          if (!done) {
            done = true;
            vertx.cancelTimer(timer);
            then.accept(body, this::release);
          }
        });
    if ("100-continue".equalsIgnoreCase(request.getHeader("expect"))) {
      request.response().writeContinue();
    }
  }

  private void add(Buffer chunk) {
    if (done) {
      return;
    }
    if (body.length() + chunk.length() > limits.maxBody()) {
      stop(ApiException.tooLarge(limits.maxBody()));
    } else if (!memory.take(tenant(), chunk.length(), taken)) {
      stop(ApiException.unavailable("the gateway receives too many large bodies now: try again"));
    } else {
      taken += chunk.length();
      body.appendBuffer(chunk);
    }
  }

  private void stop(ApiException why) {
    if (!done) {
      finish(exchange.vertx());
      exchange.refuse(why);
    }
  }

  private void finish(Vertx vertx) {
    if (!done) {
      done = true;
      vertx.cancelTimer(timer);
      release();
    }
  }

  private void release() {
    memory.release(tenant(), taken);
    taken = 0;
  }

  private String tenant() {
    return exchange.caller().tenant();
  }

  private long declaredLength() {
    String length = request.getHeader("content-length");
    try {
      return length == null ? 0 : Long.parseLong(length);
    } catch (NumberFormatException e) {
      return Long.MAX_VALUE; // the server has already rejected a length that is not a number
    }
  }

  private static ApiException tooSlow() {
    return new ApiException(
        408,
        "invalid_request_error",
        "request_timeout",
        null,
        "the body did not come in the time that gateway.request-timeout allows");
  }
}
