package io.radixflow.gateway.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Map;

/**
 * Takes every request: finds its route, reads its body within the limits, and has the route's
 * endpoint serve it. Runs on event loops.
 */
final class Dispatcher implements Handler<HttpServerRequest> {

  /** Bodies from this size on are parsed by a worker, as that takes milliseconds. */
  private static final int LARGE_BODY = 256 << 10;

  private static final Routes.Route NONE =
      new Routes.Route(null, "(none)", List.of(), ErrorFormat.OPENAI, true, null);

  private final Routes routes;
  private final HttpLimits limits;

  Dispatcher(Routes routes, HttpLimits limits) {
    this.routes = routes;
    this.limits = limits;
  }

  @Override
  public void handle(HttpServerRequest request) {
    Context context = Vertx.currentContext();
    Routes.Match match = null;
    try {
      match = routes.find(request.method(), request.path());
      Caller caller = Caller.ANONYMOUS;
      if (!match.route().hasBody()) {
        serve(exchange(request, context, match, caller, null));
      } else if (declaredLength(request) > limits.maxBody()) {
        throw tooLarge();
      } else {
        readBody(request, context, match, caller);
      }
    } catch (RuntimeException e) {
      refuse(request, context, match, e);
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

  private void readBody(
      HttpServerRequest request, Context context, Routes.Match match, Caller caller) {
    Buffer body = Buffer.buffer();
    request.handler(
        chunk -> {
          if (body.length() + chunk.length() > limits.maxBody()) {
            request.handler(more -> {});
            request.endHandler(end -> {});
            refuse(request, context, match, tooLarge());
          } else {
            body.appendBuffer(chunk);
          }
        });
    request.endHandler(end -> parse(request, context, match, caller, body));
  }

  private void parse(
      HttpServerRequest request, Context context, Routes.Match match, Caller caller, Buffer body) {
    if (body.length() < LARGE_BODY) {
      try {
        serve(exchange(request, context, match, caller, Json.read(body.getBytes())));
      } catch (ApiException e) {
        refuse(request, context, match, e);
      }
      return;
    }
    context
        .executeBlocking(() -> Json.read(body.getBytes()), false)
        .onComplete(
            parsed -> {
              if (parsed.succeeded()) {
                serve(exchange(request, context, match, caller, parsed.result()));
              } else {
                refuse(request, context, match, parsed.cause());
              }
            });
  }

  private Exchange exchange(
      HttpServerRequest request,
      Context context,
      Routes.Match match,
      Caller caller,
      ObjectNode body) {
    return new Exchange(request, context, limits, match, caller, body);
  }

  private static void serve(Exchange exchange) {
    try {
      exchange.serve();
    } catch (RuntimeException | StackOverflowError e) {
      exchange.fail(e);
    }
  }

  /** Answers without reading more of the request; the connection cannot be used again then. */
  private void refuse(
      HttpServerRequest request, Context context, Routes.Match match, Throwable cause) {
    Routes.Match shown = match == null ? new Routes.Match(NONE, Map.of()) : match;
    Exchange exchange = exchange(request, context, shown, Caller.ANONYMOUS, null);
    if (!request.isEnded()) {
      exchange.setHeader("connection", "close");
      request.resume();
    }
    exchange.fail(cause);
  }
}
