package io.radixflow.gateway.messages;

import io.radixflow.gateway.chat.ChatOutput;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.SseStream;
import io.radixflow.gateway.http.TurnErrors;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.TurnStream;

/** Streams a message as it grows. Belongs to the event loop of its exchange. */
final class MessageStream implements ChatOutput {

  private final Exchange exchange;
  private final SseStream events;
  private final MessageJson json;
  private TurnStream turn;
  private boolean begun;

  MessageStream(Exchange exchange, MessageJson json) {
    this.exchange = exchange;
    this.events = exchange.sse();
    this.json = json;
  }

  @Override
  public void begin(TurnStream started) {
    turn = started;
  }

  @Override
  public void piece(int choice, TurnPiece piece) {
    if (piece.text().isEmpty()) {
      return;
    }
    open();
    events.event("content_block_delta", MessageJson.blockDelta(piece.text()));
    events.throttle(turn);
  }

  private void open() {
    if (!begun) {
      begun = true;
      events.event("message_start", json.start());
      events.event("content_block_start", MessageJson.blockStart());
      events.event("ping", MessageJson.ping());
    }
  }

  @Override
  public void ended(int choice, TurnEnd end) {
    ApiException error = TurnErrors.of(end);
    if (error != null) {
      fail(error);
      return;
    }
    open();
    events.event("content_block_stop", MessageJson.blockStop());
    events.event("message_delta", json.delta(end));
    events.event("message_stop", MessageJson.stop());
    events.end();
  }

  @Override
  public void failed(TurnFailure failure) {
    fail(TurnErrors.of(failure));
  }

  private void fail(ApiException error) {
    if (!events.hasBegun()) {
      events.stop();
      exchange.fail(error);
      return;
    }
    events.event("error", exchange.errorBody(error));
    events.end();
  }
}
