package io.radixflow.gateway.chat;

import io.radixflow.gateway.api.ApiOutput;
import io.radixflow.gateway.chat.CompletionJson.Choice;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.TurnErrors;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.TurnStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Answers with the whole completion when all choices have ended. Belongs to the event loop of its
 * exchange.
 */
final class ChatCollector implements ApiOutput {

  private final Exchange exchange;
  private final CompletionJson json;
  private final List<Choice> choices = new ArrayList<>();
  private final UsageSum sum;
  private TurnStream turns;
  private int running;

  ChatCollector(Exchange exchange, CompletionJson json, CompletionRequest request) {
    this.exchange = exchange;
    this.json = json;
    this.running = request.choices();
    this.sum = new UsageSum(request.choicesOfPrompt());
    for (int i = 0; i < running; i++) {
      this.choices.add(new Choice());
    }
  }

  @Override
  public void begin(TurnStream started) {
    turns = started;
  }

  @Override
  public void created(long created) {
    json.created(created);
  }

  @Override
  public void piece(int choice, TurnPiece piece) {
    choices.get(choice).add(piece);
  }

  @Override
  public void ended(int choice, TurnEnd end) {
    ApiException error = TurnErrors.of(end, json.promptField());
    if (error != null) {
      fail(error);
      return;
    }
    choices.get(choice).finish(end);
    sum.add(choice, end.usage());
    if (--running == 0) {
      exchange.json(200, json.completion(choices, sum.total()));
    }
  }

  @Override
  public void failed(TurnFailure failure) {
    fail(TurnErrors.of(failure));
  }

  private void fail(ApiException error) {
    turns.close();
    exchange.fail(error);
  }
}
