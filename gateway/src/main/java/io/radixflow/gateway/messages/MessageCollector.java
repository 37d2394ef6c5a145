package io.radixflow.gateway.messages;

import io.radixflow.gateway.api.ApiOutput;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.TurnErrors;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.TurnStream;

/**
 * Answers with the whole message when its turn has ended. Belongs to the event loop of its
 * exchange.
 */
final class MessageCollector implements ApiOutput {

  private final Exchange exchange;
  private final MessageWriter json;
  private final TurnMessage message = new TurnMessage();

  MessageCollector(Exchange exchange, MessageWriter json) {
    this.exchange = exchange;
    this.json = json;
  }

  @Override
  public void begin(TurnStream turns) {}

  @Override
  public void piece(int choice, TurnPiece piece) {
    message.add(piece);
  }

  @Override
  public void ended(int choice, TurnEnd end) {
    ApiException error = TurnErrors.of(end, "messages");
    if (error != null) {
      exchange.fail(error);
    } else {
      exchange.json(200, json.message(message, end));
    }
  }

  @Override
  public void failed(TurnFailure failure) {
    exchange.fail(TurnErrors.of(failure));
  }
}
