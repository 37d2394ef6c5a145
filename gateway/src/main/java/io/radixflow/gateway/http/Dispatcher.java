package io.radixflow.gateway.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.auth.Admission;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Takes every request: admits it, finds its route, reads its body within the limits, and has the
 * route's endpoint serve it. Runs on event loops.
 */
final class Dispatcher implements Handler<HttpServerRequest> {

  /** Bodies from this size on are parsed by a worker, as that takes milliseconds. */
  private static final int LARGE_BODY = 256 << 10;

  /** What metrics and errors name requests by that have no route. */
  private static final Routes.Match NO_MATCH =
      new Routes.Match(
          new Routes.Route(null, "(none)", List.of(), ErrorFormat.OPENAI, true, null), Map.of());

  private final Routes routes;
  private final HttpLimits limits;
  private final Access access;
  private final HttpMetrics metrics;

  Dispatcher(Routes routes, HttpLimits limits, Access access, HttpMetrics metrics) {
    this.routes = routes;
    this.limits = limits;
    this.access = access;
    this.metrics = metrics;
  }

  @Override
  public void handle(HttpServerRequest request) {
    Context context = Vertx.currentContext();
    Routes.Match match = NO_MATCH;
    try {
      access.checkOrigin(request);
      if (request.method() == HttpMethod.OPTIONS) {
        Access.preflight(request);
        return;
      }
      match = routes.find(request.method(), request.path());
      admit(request, context, match);
    } catch (RuntimeException e) {
      refuse(new Exchange(request, context, limits, match, metrics), e);
    }
  }

  private void admit(HttpServerRequest request, Context context, Routes.Match match) {
    Admission admission = match.route().open() ? Admission.anonymous() : access.admit(request);
    Exchange exchange = new Exchange(request, context, limits, match, metrics);
    exchange.admit(admission);
    if (!match.route().hasBody()) {
      serve(exchange);
    } else if (declaredLength(request) > limits.maxBody()) {
      refuse(exchange, tooLarge());
    } else {
      readBody(request, exchange);
    }
  }

  private static long declaredLength(HttpServerRequest request) {
    String length = request.getHeader("content-length");
    try {
      return length == null ? 0 : Long.parseLong(length);
    } catch (NumberFormatException e) {
      throw ApiException.badRequest(null, "the header content-length is not a number");
    }
  }

  private ApiException tooLarge() {
    return new ApiException(
        413,
        "invalid_request_error",
        "request_too_large",
        null,
        "the body has more than " + limits.maxBody() + " bytes, which gateway.max-body allows");
  }

  private void readBody(HttpServerRequest request, Exchange exchange) {
    Buffer body = Buffer.buffer();
    request.handler(
        chunk -> {
          if (body.length() + chunk.length() > limits.maxBody()) {
            request.handler(more -> {});
            request.endHandler(end -> {});
            refuse(exchange, tooLarge());
          } else {
            body.appendBuffer(chunk);
          }
        });
    request.endHandler(end -> parse(exchange, body));
  }

  private void parse(Exchange exchange, Buffer body) {
    if (body.length() < LARGE_BODY) {
      serve(exchange, () -> Json.read(body.getBytes()));
      return;
    }
    exchange
        .executeBlocking(() -> Json.read(body.getBytes()))
        .onComplete(
            parsed ->
                serve(
                    exchange,
                    () -> {
                      if (parsed.failed()) {
                        throw (RuntimeException) parsed.cause();
                      }
                      return parsed.result();
                    }));
  }

  private static void serve(Exchange exchange, Supplier<ObjectNode> body) {
    try {
      exchange.setBody(body.get());
      exchange.serve();
    } catch (RuntimeException | StackOverflowError e) {
      exchange.fail(e);
    }
  }

  private static void serve(Exchange exchange) {
    serve(exchange, () -> null);
  }

  /** Answers without reading more of the request; the connection cannot be used again then. */
  private static void refuse(Exchange exchange, Throwable cause) {
    exchange.dropRest();
    exchange.fail(cause);
  }
}
