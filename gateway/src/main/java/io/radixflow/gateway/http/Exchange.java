package io.radixflow.gateway.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.auth.AuthDecision;
import io.radixflow.gateway.auth.Caller;
import io.radixflow.gateway.turn.Following;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.TraceContext;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request and its response. Belongs to the event loop of its connection; {@link #executor()} runs
 * tasks there.
 */
public final class Exchange {

  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

  private static final String ID = "X-Request-Id";
  private static final int MAX_HEADER = 1024;
  private static final int LINGER_MILLIS = 1000;

  /** Metrics use this status, like nginx, for requests whose client went away. */
  private static final int CLIENT_GONE = 499;

  private final List<String> ignored = new ArrayList<>();
  private final HttpServerRequest request;
  private final Context context;
  private final HttpLimits limits;
  private final Workers workers;
  private final Routes.Match match;
  private final HttpMetrics metrics;
  private final RequestSpan span;
  private final long started = System.nanoTime();
  private final String id;
  private AuthDecision admission = AuthDecision.anonymous();
  private ObjectNode body;
  private Runnable onGone = () -> {};
  private Runnable onOver = () -> {};
  private volatile boolean over;
  private boolean failed;

  /** The response as a stream of events; null if the response is not a stream. */
  private SseStream stream;

  private Consumer<ApiException> streamError;

  Exchange(
      HttpServerRequest request,
      Context context,
      HttpLimits limits,
      Workers workers,
      Routes.Match match,
      HttpMetrics metrics,
      RequestSpan span) {
    this.request = request;
    this.context = context;
    this.limits = limits;
    this.workers = workers;
    this.match = match;
    this.metrics = metrics;
    this.span = span;
    String given = request.getHeader(ID);
    this.id = given != null && given.matches("[\\w.:-]{1,128}") ? given : RandomIds.next("req");
    setHeader(ID, id);
    Uncaught.watch(context, this);
    HttpServerResponse response = request.response();
    response.closeHandler(closed -> over());
    response.exceptionHandler(failure -> {}); // closing the connection calls the close handler
    response.endHandler(ended -> over());
  }

  /** Sets who sends the request; the admission is released when the response is complete. */
  void admit(AuthDecision given) {
    admission = given;
  }

  /** Called once, when the response is complete or its client has gone. */
  private void over() {
    if (over) {
      return;
    }
    over = true;
    admission.release().run();
    onOver.run();
    boolean complete = request.response().ended();
    int status = complete ? request.response().getStatusCode() : CLIENT_GONE;
    metrics.request(match.route().path(), status, started);
    span.end(status, complete);
    if (!complete) {
      onGone.run();
    }
  }

  /**
   * Stops reading the request, and closes its connection after the response. Further bytes are
   * dropped for a moment, because a client that sends into a closed connection may lose the
   * response.
   */
  private void dropRest() {
    if (request.isEnded()) {
      return;
    }
    request.handler(null).resume();
    if (request.version() != HttpVersion.HTTP_2) {
      setHeader("connection", "close");
      request.endHandler(ended -> request.connection().close());
      vertx().setTimer(LINGER_MILLIS, late -> request.connection().close());
    }
  }

  /** Answers with an error, and stops reading the request. */
  void refuse(Throwable cause) {
    dropRest();
    fail(cause);
  }

  /**
   * Returns the id of the request in the response's headers and in the log. The client may have
   * chosen the id.
   */
  public String id() {
    return id;
  }

  Vertx vertx() {
    return context.owner();
  }

  /**
   * Passes the exchange to the route's endpoint.
   *
   * @param read the request's body, or null for methods without a body
   */
  void serve(ObjectNode read) {
    body = read;
    span.body(read);
    match.route().endpoint().handle(this);
  }

  /** Returns the sender of the request. */
  public Caller caller() {
    return admission.caller();
  }

  /**
   * Returns the request's body, which the endpoint may keep and change; null for methods without a
   * body.
   */
  public ObjectNode body() {
    return body;
  }

  /** Returns the text of a segment in braces of the route's path. */
  public String pathParameter(String name) {
    return match.parameters().get(name);
  }

  /**
   * Returns a parameter of the query string, or null.
   *
   * @throws ApiException if the query string cannot be read
   */
  public String queryParameter(String name) {
    try {
      return request.params().get(name);
    } catch (IllegalArgumentException e) {
      throw ApiException.badRequest(name, "the query string has a wrong escape sequence");
    }
  }

  /**
   * Returns all values of a parameter of the query string.
   *
   * @throws ApiException if the query string cannot be read
   */
  public List<String> queryParameters(String name) {
    try {
      return request.params().getAll(name);
    } catch (IllegalArgumentException e) {
      throw ApiException.badRequest(name, "the query string has a wrong escape sequence");
    }
  }

  /** Returns a header of the request, or null. */
  public String header(String name) {
    return request.getHeader(name);
  }

  /** Returns an executor that runs tasks on the exchange's event loop, in order. */
  public Executor executor() {
    return task -> context.runOnContext(ignored -> task.run());
  }

  /**
   * Returns how this exchange follows its turns. A header of the request can ask for committed
   * replies.
   */
  public Following following() {
    boolean committed = "true".equalsIgnoreCase(header("X-Await-Commit"));
    return new Following(executor(), committed, limits.clientBuffer(), span);
  }

  /**
   * Returns the origin of this exchange's events: its span, or else the trace in the client's
   * headers.
   */
  public Origin origin() {
    String state = header("tracestate");
    TraceContext trace = span.context(state);
    if (trace == null && header("traceparent") != null) {
      trace = new TraceContext(header("traceparent"), state);
    }
    return trace == null ? Origin.NONE : new Origin(-1, -1, 0, trace);
  }

  /** Sets a header of the response. Call it before any part of the response is written. */
  public void setHeader(String name, String value) {
    request.response().putHeader(name, value);
  }

  /** Returns whether unknown fields are refused for this client. */
  public boolean isStrict() {
    return limits.strict() || "true".equalsIgnoreCase(header("X-Radixflow-Strict"));
  }

  /** Returns whether parts of messages that no model can read are refused. */
  public boolean refusesParts() {
    return limits.refuseParts();
  }

  /** Names ignored fields of the request, in a header of the response and in the log. */
  public void ignored(Collection<String> fields) {
    if (!fields.isEmpty()) {
      ignored.addAll(fields);
      String names = headerText(ignored);
      setHeader("X-Radixflow-Ignored", names);
      LOG.debug("{} ignored the fields {}", match.route().path(), names);
    }
  }

  /**
   * Returns the names as a valid header of limited length: clients choose the names and their
   * number.
   */
  private static String headerText(Collection<String> names) {
    StringBuilder text = new StringBuilder();
    for (Iterator<String> each = names.iterator(); each.hasNext() && text.length() < MAX_HEADER; ) {
      String name = each.next();
      text.append(text.isEmpty() ? "" : ",").append(name, 0, Math.min(name.length(), MAX_HEADER));
    }
    String plain = text.toString().replaceAll("[^\\x21-\\x7e]", "?");
    return plain.length() <= MAX_HEADER ? plain : plain.substring(0, MAX_HEADER);
  }

  /** Runs a task once, when the response is complete or its client has gone. */
  void onOver(Runnable task) {
    onOver = task;
  }

  /**
   * Runs a task if the client goes away before the response is complete, or if the exchange fails.
   */
  public void onGone(Runnable task) {
    onGone = task;
    if (failed || over && !request.response().ended()) {
      task.run();
    }
  }

  /** Returns whether a part of the response was written. After that, headers cannot be set. */
  public boolean hasBegun() {
    return request.response().headWritten();
  }

  /** Returns whether the response is complete, or its client has gone. */
  public boolean isOver() {
    return over;
  }

  /**
   * Runs long work on a worker thread; tenants share the threads.
   *
   * @param then receives the result on the exchange's event loop; the client gets an exception of
   *     {@code work} or {@code then} as an error
   */
  public <T> void blocking(Callable<T> work, Consumer<T> then) {
    workers.run(caller().tenant(), executor(), work, then, this::fail);
  }

  /** Answers a successful request with a JSON object. */
  public void json(ObjectNode object) {
    json(200, object);
  }

  /** Answers with a JSON object. */
  public void json(int status, ObjectNode object) {
    json(status, Json.write(object));
  }

  /** Answers with a JSON object. */
  public void json(int status, byte[] object) {
    send(status, "application/json", object);
  }

  /** Answers with bytes. */
  public void send(int status, String type, byte[] bytes) {
    HttpServerResponse response = request.response();
    if (over || response.ended()) {
      return;
    }
    response.setStatusCode(status).putHeader("content-type", type).end(Buffer.buffer(bytes));
  }

  /**
   * Starts an answer of server-sent events. Nothing is written before the first event. An error
   * becomes an event in the form of the route's API.
   */
  public SseStream sse() {
    ErrorFormat errors = match.route().errors();
    return sse(error -> stream.event(errors.event(), errors.body(error)));
  }

  /**
   * Starts an answer of server-sent events.
   *
   * @param error writes an error as an event, if the stream has begun
   */
  public SseStream sse(Consumer<ApiException> error) {
    streamError = error;
    stream = new SseStream(request.response(), context, limits.keepAliveMillis(), metrics);
    return stream;
  }

  /**
   * Ends the exchange with an error, in the form of the route's API: as the response, or as the
   * last event of a stream that has begun. Any exception other than {@link ApiException} and {@link
   * InvalidInputException} is logged, and the client gets a 500 that does not reveal the cause.
   * Does nothing if the response is complete.
   */
  public void fail(Throwable error) {
    ApiException shown = shown(error);
    if (over || request.response().ended()) {
      return;
    }
    failed = true;
    try {
      write(shown);
    } catch (RuntimeException | Error e) {
      LOG.error("Request {}: its error could not be written; closing its connection", id, e);
      request.connection().close();
    } finally {
      onGone.run();
    }
  }

  private void write(ApiException error) {
    boolean begun = request.response().headWritten();
    if (begun && stream == null) {
      LOG.warn("Request {}: {} failed after its response began", id, match.route().path(), error);
      request.connection().close();
    } else if (begun) {
      streamError.accept(error);
      stream.end();
    } else {
      if (stream != null) {
        stream.stop();
      }
      if (error.hint() != null) {
        setHeader(error.hint().header(), error.hint().value());
      }
      json(error.status(), match.route().errors().body(error));
    }
  }

  private ApiException shown(Throwable error) {
    if (error instanceof ApiException api) {
      return api;
    }
    if (error instanceof InvalidInputException invalid) {
      return ApiException.badRequest(invalid.getMessage());
    }
    LOG.error("Request {}: {} failed", id, match.route().path(), error);
    return new ApiException(
        500, "server_error", null, null, "the gateway failed; its log says why, at request " + id);
  }
}
