package io.radixflow.gateway.http;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.radixflow.gateway.auth.AuthDecision;
import io.radixflow.protocol.fair.FairLimit;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import java.util.Map;

/**
 * Receives every request, admits it, finds its route, reads its body within the limits, and passes
 * it to the route's endpoint. Runs on event loops.
 */
final class Dispatcher implements Handler<HttpServerRequest> {

  /**
   * Bodies of at least this size are parsed by a worker, because parsing them takes milliseconds.
   */
  private static final int LARGE_BODY = 256 << 10;

  /** The route for metrics and errors of requests that match no route. */
  private static final Routes.Match NO_MATCH =
      new Routes.Match(
          new Routes.Route(null, "(none)", List.of(), ErrorFormat.OPENAI, true, null), Map.of());

  private final Routes routes;
  private final HttpLimits limits;
  private final Access access;
  private final HttpMetrics metrics;
  private final Tracing tracing;
  private final Workers workers;
  private final FairLimit bodies;
  private final Connections connections;

  Dispatcher(
      Routes routes,
      HttpLimits limits,
      Access access,
      Workers workers,
      HttpMetrics metrics,
      Tracing tracing) {
    this.routes = routes;
    this.limits = limits;
    this.access = access;
    this.workers = workers;
    this.bodies = new FairLimit(limits.bodyMemory());
    this.metrics = metrics;
    this.tracing = tracing;
    this.connections = new Connections(limits.maxConnections(), limits.requestMillis(), metrics);
  }

  void connected(HttpConnection connection) {
    connections.connected(connection);
  }

  /**
   * Answers a request that is not valid HTTP, or whose headers exceed the limits, in the form of
   * all errors.
   */
  void invalid(HttpServerRequest request) {
    Exchange exchange = exchange(request, Vertx.currentContext(), NO_MATCH);
    exchange.setHeader("connection", "close");
    exchange.fail(whyInvalid(request.decoderResult().cause()));
    request.connection().close();
  }

  private static ApiException whyInvalid(Throwable cause) {
    boolean headers = cause instanceof TooLongHttpHeaderException;
    boolean line = cause instanceof TooLongHttpLineException;
    String type = "invalid_request_error";
    if (!headers && !line) {
      return ApiException.badRequest(null, "the request is not valid HTTP");
    }
    String message =
        (headers ? "the headers are" : "the path is") + " longer than gateway.max-headers allows";
    return new ApiException(headers ? 431 : 414, type, "request_too_large", null, message);
  }

  @Override
  public void handle(HttpServerRequest request) {
    Context context = Vertx.currentContext();
    Routes.Match match = NO_MATCH;
    AuthDecision admission;
    try {
      checkHost(request);
      access.checkOrigin(request);
      if (request.method() == HttpMethod.OPTIONS) {
        Access.preflight(request);
        return;
      }
      match = routes.find(request.method(), request.path());
      admission = match.route().open() ? AuthDecision.anonymous() : access.admit(request);
    } catch (RuntimeException | Error e) {
      exchange(request, context, match).refuse(e);
      return;
    }
    Exchange exchange = exchange(request, context, match);
    exchange.admit(admission);
    if (!match.route().hasBody()) {
      exchange.serve(null);
    } else {
      new BodyReader(request, exchange, limits, bodies)
          .read(context.owner(), (body, release) -> parse(exchange, body, release));
    }
  }

  /**
   * Rejects a request with several Host headers, because a proxy and the gateway could read
   * different headers. HTTP/2 carries the host outside the headers.
   */
  private static void checkHost(HttpServerRequest request) {
    if (request.version() == HttpVersion.HTTP_1_1 && request.headers().getAll("host").size() != 1) {
      throw ApiException.badRequest(null, "the request must have one header Host");
    }
  }

  private Exchange exchange(HttpServerRequest request, Context context, Routes.Match match) {
    Exchange exchange =
        new Exchange(
            request,
            context,
            limits,
            workers,
            match,
            metrics,
            tracing.begin(request, match.route()));
    connections.began(request.connection(), exchange);
    return exchange;
  }

  private void parse(Exchange exchange, Buffer body, Runnable release) {
    String named = exchange.header("content-encoding");
    if (named == null && body.length() < LARGE_BODY) {
      try {
        exchange.serve(Json.read(body.getBytes()));
      } finally {
        release.run();
      }
      return;
    }
    exchange.blocking(
        () -> {
          try {
            String encoding = BodyEncoding.of(named);
            return exchange.isOver()
                ? null
                : Json.read(BodyEncoding.inflate(body.getBytes(), encoding, limits.maxBody()));
          } finally {
            release.run();
          }
        },
        read -> {
          if (!exchange.isOver()) {
            exchange.serve(read);
          }
        });
  }
}
