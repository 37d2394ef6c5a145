package io.radixflow.gateway.chat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.SseStream;
import io.radixflow.gateway.http.TurnErrors;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnListener;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.TurnStream;

/** Streams a chat completion as it grows. Belongs to the event loop of its exchange. */
final class ChatStream implements TurnListener {

  private static final byte[] DONE = "[DONE]".getBytes(US_ASCII);

  private final Exchange exchange;
  private final SseStream events;
  private final ChatJson json;
  private final boolean usage;
  private TurnStream turn;
  private boolean begun;

  ChatStream(Exchange exchange, ChatJson json, boolean usage) {
    this.exchange = exchange;
    this.events = exchange.sse();
    this.json = json;
    this.usage = usage;
  }

  /** Sets the turn that is held back while the client is slow. */
  void of(TurnStream started) {
    turn = started;
  }

  @Override
  public void piece(TurnPiece piece) {
    if (piece.text().isEmpty()) {
      return;
    }
    events.event(null, json.chunk(!begun, piece.text(), null, usage));
    begun = true;
    events.throttle(turn);
  }

  @Override
  public void ended(TurnEnd end) {
    ApiException error = TurnErrors.of(end);
    if (error != null) {
      fail(error);
      return;
    }
    events.event(null, json.chunk(!begun, begun ? null : "", end.finishReason(), usage));
    if (usage) {
      events.event(null, json.usageChunk(end.usage()));
    }
    events.event(null, DONE);
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
    events.event(null, exchange.errorBody(error));
    events.end();
  }
}
