package io.radixflow.gateway.responses;

import io.radixflow.gateway.api.SessionFinder;
import io.radixflow.gateway.api.TurnErrors;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.SseStream;
import io.radixflow.gateway.responses.ResponseRecord.Output;
import io.radixflow.gateway.responses.ResponseRecord.Status;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnFound;
import io.radixflow.gateway.turn.TurnListener;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.TurnStream;

/**
 * Follows the turn of a response, and answers with the response. A stream begins when the job has
 * accepted the turn, so that a rejection can be an error with its own status. Belongs to the event
 * loop of its exchange.
 */
final class ResponseFollower implements TurnListener {

  /** When and how the client gets the response. */
  enum Answer {
    /** As a whole, when the turn has ended. */
    WHOLE,
    /** Once the job has the turn, which then runs without the client. */
    EARLY,
    /** As a stream that grows. */
    STREAM
  }

  private final Exchange exchange;
  private final Answer answer;
  private final SseStream events;
  private final ResponseStream stream;
  private final TurnMessage message = new TurnMessage();
  private ResponseRecord begun;
  private TurnStream turn;
  private boolean ended;

  /**
   * @param after the number of the last event that the client of a stream has; -1 for none
   */
  ResponseFollower(Exchange exchange, ResponseRecord begun, Answer answer, long after) {
    this.exchange = exchange;
    this.begun = begun;
    this.answer = answer;
    this.events = answer == Answer.STREAM ? exchange.sse(this::error) : null;
    this.stream = new ResponseStream(after, (type, data) -> events.event(type, data));
  }

  /** Sets the turn; a stream pauses it while the client is slow. */
  void of(TurnStream followed) {
    turn = followed;
    throttle();
  }

  private void throttle() {
    if (events != null && turn != null && !ended) {
      events.throttle(turn);
    }
  }

  /** Called when the job has accepted the turn. */
  void accepted() {
    accepted(begun);
  }

  private void accepted(ResponseRecord now) {
    if (ended) {
      return;
    }
    if (answer == Answer.STREAM && !stream.isOpen()) {
      stream.open(begun);
    } else if (answer == Answer.EARLY) {
      ended = true;
      turn.close();
      json(now);
    }
  }

  private void json(ResponseRecord response) {
    exchange.json(ResponseJson.response(response));
  }

  @Override
  public void found(TurnFound found) {
    begun = begun.firstSent(found);
    if (!exchange.hasBegun()) {
      SessionFinder.name(exchange, begun.session(), begun.turn());
    }
    if (answer == Answer.STREAM || !found.status().equals("done")) {
      accepted(begun.at(Status.ofRunning(found.status())));
    }
  }

  @Override
  public void piece(TurnPiece piece) {
    message.add(piece);
    if (answer == Answer.STREAM) {
      accepted();
      stream.piece(piece);
      throttle();
    }
  }

  @Override
  public void ended(TurnEnd end) {
    if (end.finishReason().equals("rejected") && !exchange.hasBegun()) {
      ended = true;
      exchange.fail(ResponseErrors.of(end, begun.settings().previous()));
    } else {
      end(begun.with(Output.ended(end, message)));
    }
  }

  /** Answers with a response that has ended, or with the rest of its stream. */
  void end(ResponseRecord response) {
    if (answer != Answer.STREAM) {
      ended = true;
      json(response);
      return;
    }
    accepted();
    ended = true;
    stream.close(response);
    events.done();
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
