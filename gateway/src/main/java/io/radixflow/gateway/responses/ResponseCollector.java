package io.radixflow.gateway.responses;

import io.radixflow.gateway.api.SessionFinder;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.http.TurnErrors;
import io.radixflow.gateway.responses.ResponseRecord.Status;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnFound;
import io.radixflow.gateway.turn.TurnListener;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Answers with the whole response when its turn has ended. Belongs to the event loop of its
 * exchange.
 */
final class ResponseCollector implements TurnListener {

  private final Exchange exchange;
  private ResponseRecord begun;
  private final TurnMessage message = new TurnMessage();
  private final Consumer<ResponseRecord> inProgress;

  ResponseCollector(Exchange exchange, ResponseRecord begun) {
    this(exchange, begun, response -> {});
  }

  /**
   * @param inProgress takes the response if the job already has its turn and the turn has not ended
   */
  ResponseCollector(Exchange exchange, ResponseRecord begun, Consumer<ResponseRecord> inProgress) {
    this.exchange = exchange;
    this.begun = begun;
    this.inProgress = inProgress;
  }

  @Override
  public void found(TurnFound turn) {
    begun = begun.firstSent(turn);
    SessionFinder.name(exchange, begun.session(), begun.turn());
    if (!turn.status().equals("done")) {
      inProgress.accept(begun.at(Status.ofRunning(turn.status())));
    }
  }

  @Override
  public void piece(TurnPiece piece) {
    message.add(piece);
  }

  @Override
  public void ended(TurnEnd end) {
    if (end.finishReason().equals("rejected")) {
      exchange.fail(ResponseErrors.of(end, begun.settings().previous()));
    } else {
      ResponseRecord whole = ended(begun, end, message, message.logprobs());
      exchange.json(200, Json.write(ResponseJson.response(whole)));
    }
  }

  /**
   * Returns a response after its turn has ended.
   *
   * @param logprobs log probabilities of the tokens, or null
   */
  static ResponseRecord ended(
      ResponseRecord begun, TurnEnd end, TurnMessage reply, List<TokenLogprob> logprobs) {
    return begun
        .ended(
            Status.of(end.finishReason()),
            TimeUnit.MILLISECONDS.toSeconds(end.completed()),
            reply.message(),
            reply.order(),
            logprobs,
            end.usage(),
            ResponseLookup.failure(end.finishReason(), end.error()))
        .warned(end.warnings());
  }

  @Override
  public void failed(TurnFailure failure) {
    exchange.fail(TurnErrors.of(failure));
  }
}
