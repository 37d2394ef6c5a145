package io.radixflow.gateway.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.turn.TurnStream;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;

/**
 * Writes server-sent events. Each event is written in one buffer, so that no character is split.
 * After a while without an event, a comment is written. Belongs to the event loop of its exchange.
 */
public final class SseStream {

  private static final byte[] DATA = "data: ".getBytes(US_ASCII);
  private static final byte[] DONE = "[DONE]".getBytes(US_ASCII);
  private static final byte[] END = "\n\n".getBytes(US_ASCII);
  private static final Buffer COMMENT = Buffer.buffer(": keep-alive\n\n");

  private final HttpServerResponse response;
  private final Context context;
  private final HttpMetrics metrics;
  private final long timer;
  private boolean stopped;
  private boolean wroteLately;

  SseStream(
      HttpServerResponse response, Context context, long keepAliveMillis, HttpMetrics metrics) {
    this.response = response;
    this.context = context;
    this.metrics = metrics;
    metrics.streamOpened();
    this.timer =
        context.owner().setPeriodic(Math.max(1, keepAliveMillis / 2), ticked -> keepAlive());
  }

  /**
   * Writes an event.
   *
   * @param name the type of the event, or null for an event without a type
   * @param data the data of the event
   */
  public void event(String name, ObjectNode data) {
    event(name, Json.write(data));
  }

  /**
   * Writes the last event of OpenAI's streams and of Open Responses, which is not JSON, and ends
   * the response.
   */
  public void done() {
    event(null, DONE);
    end();
  }

  private void event(String name, byte[] data) {
    Buffer event = Buffer.buffer(data.length + 64);
    if (name != null) {
      event.appendString("event: ").appendString(name).appendString("\n");
    }
    write(event.appendBytes(DATA).appendBytes(data).appendBytes(END));
  }

  /** Pauses a turn while the client reads too slowly. Call it after writing. */
  public void throttle(TurnStream turn) {
    if (!response.ended() && !response.closed() && response.writeQueueFull()) {
      turn.pause();
      response.drainHandler(drained -> turn.resume());
    }
  }

  /** Ends the response. */
  public void end() {
    stop();
    if (!response.ended() && !response.closed()) {
      response.end();
    }
  }

  /** Stops the keep-alive of a stream whose client has gone, or of a stream that never began. */
  void stop() {
    if (!stopped) {
      stopped = true;
      context.owner().cancelTimer(timer);
      metrics.streamClosed();
    }
  }

  private void keepAlive() {
    if (response.ended() || response.closed()) {
      stop();
    } else if (!wroteLately && !response.writeQueueFull()) {
      write(COMMENT.copy());
    }
    wroteLately = false;
  }

  private void write(Buffer event) {
    if (response.ended() || response.closed()) {
      return;
    }
    if (!response.headWritten()) {
      response
          .setChunked(true)
          .putHeader("content-type", "text/event-stream; charset=utf-8")
          .putHeader("cache-control", "no-cache")
          .putHeader("x-accel-buffering", "no");
    }
    wroteLately = true;
    response.write(event);
  }
}
