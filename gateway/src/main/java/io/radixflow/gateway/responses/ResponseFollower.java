package io.radixflow.gateway.responses;

import io.radixflow.gateway.api.SessionFinder;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.http.SseStream;
import io.radixflow.gateway.http.TurnErrors;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnFound;
import io.radixflow.gateway.turn.TurnListener;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.TurnStream;
import java.nio.charset.StandardCharsets;

/**
 * Streams a response as it grows. The stream begins when the job has accepted the turn, so that a
 * rejection can be an error with its own status. Belongs to the event loop of its exchange.
 */
final class ResponseFollower implements TurnListener {

  /** The end of a stream in Open Responses. OpenAI's clients also accept it. */
  private static final byte[] DONE = "[DONE]".getBytes(StandardCharsets.US_ASCII);

  private final Exchange exchange;
  private final SseStream events;
  private final ResponseStream stream;
  private ResponseRecord begun;
  private final TurnMessage message = new TurnMessage();
  private TurnStream turn;
  private boolean ended;

  /**
   * @param after the number of the last event that the client has; -1 for none
   */
  ResponseFollower(Exchange exchange, ResponseRecord begun, long after) {
    this.exchange = exchange;
    this.begun = begun;
    this.events = exchange.sse(this::error);
    this.stream = new ResponseStream(after, (type, data) -> events.event(type, Json.write(data)));
  }

  /** Sets the turn that pauses while the client is slow. */
  void of(TurnStream followed) {
    turn = followed;
    if (!ended) {
      events.throttle(turn);
    }
  }

  /** Begins the stream, because the job has accepted the turn. */
  void accepted() {
    if (!ended && !stream.isOpen()) {
      stream.open(begun);
    }
  }

  @Override
  public void found(TurnFound found) {
    begun = begun.firstSent(found);
    if (!exchange.hasBegun()) {
      SessionFinder.name(exchange, begun.session(), begun.turn());
    }
    accepted();
  }

  @Override
  public void piece(TurnPiece piece) {
    accepted();
    message.add(piece);
    stream.piece(piece);
    if (turn != null) {
      events.throttle(turn);
    }
  }

  @Override
  public void ended(TurnEnd end) {
    if (end.finishReason().equals("rejected") && !exchange.hasBegun()) {
      ended = true;
      exchange.fail(ResponseErrors.of(end, begun.settings().previous()));
      return;
    }
    end(ResponseCollector.ended(begun, end, message, null));
  }

  /** Sends the rest of a response that has ended, and ends the stream. */
  void end(ResponseRecord response) {
    accepted();
    ended = true;
    stream.close(response);
    events.event(null, DONE);
    events.end();
  }

  @Override
  public void failed(TurnFailure failure) {
    ended = true;
    exchange.fail(TurnErrors.of(failure));
  }

  private void error(ApiException error) {
    ended = true;
    stream.error("server_error", error.getMessage());
  }
}
