package io.radixflow.gateway.responses;

import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.responses.ResponseIds.TurnId;
import io.radixflow.gateway.responses.ResponseRecord.Output;
import io.radixflow.gateway.responses.ResponseRecord.Status;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Reply.TurnState;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Finds responses by their ids; asks the job about their turns. */
final class ResponseLookup {

  private final Asking asking;
  private final String model;

  /**
   * @param model the name of the model for turns whose settings do not name one
   */
  ResponseLookup(Asking asking, String model) {
    this.asking = asking;
    this.model = model;
  }

  /**
   * A response that the lookup found.
   *
   * @param branch the branch of its turn
   * @param input the messages that its turn added
   */
  record Found(ResponseRecord response, String branch, List<Message> input) {}

  /**
   * Finds a stored response; if there is none, the client gets a 404.
   *
   * @param then takes the response, on the exchange's event loop
   */
  void find(Exchange exchange, String id, Consumer<Found> then) {
    turn(
        exchange,
        id,
        found -> {
          if (found == null || !found.response().settings().store()) {
            throw ResponseErrors.noResponse(id);
          }
          withInstructions(exchange, found, then);
        });
  }

  /** Finds the turn of a response, stored or not; passes null if the caller has no such turn. */
  void turn(Exchange exchange, String id, Consumer<Found> then) {
    TurnId name = ResponseIds.parseResponse(id).orElse(null);
    if (name == null) {
      then.accept(null);
      return;
    }
    asking.turn(
        exchange,
        name.session(),
        name.turn(),
        state -> {
          Found found = state == null ? null : found(name, state);
          then.accept(found != null && found.response().id().equals(id) ? found : null);
        });
  }

  private Found found(TurnId name, TurnState state) {
    Map<String, String> kept = state.metadata() == null ? Map.of() : state.metadata();
    long created = TimeUnit.MILLISECONDS.toSeconds(state.created());
    ResponseSettings settings =
        kept.containsKey(ResponseSettings.KEY)
            ? ResponseSettings.decoded(kept.get(ResponseSettings.KEY), created, model)
            : ResponseSettings.unknown(created, model, name.tag());
    ResponseRecord response =
        new ResponseRecord(
            name.session(),
            name.turn(),
            settings,
            null,
            Metadata.kept(kept).entries(),
            state.options(),
            output(state));
    return new Found(
        response, state.branch(), state.messages() == null ? List.of() : state.messages());
  }

  private static Output output(TurnState state) {
    Status status =
        switch (state.status()) {
          case "queued" -> Status.QUEUED;
          case "running" -> Status.IN_PROGRESS;
          default -> Status.of(state.finishReason());
        };
    return new Output(
        status,
        state.reply(),
        state.order(),
        state.logprobs(),
        status.isFinal() ? TurnEnd.of(state) : null);
  }

  /** Adds the instructions. The job stores equal instructions of several turns only once. */
  private void withInstructions(Exchange exchange, Found found, Consumer<Found> then) {
    ResponseRecord response = found.response();
    if (response.settings().tag().isEmpty()) {
      then.accept(found);
      return;
    }
    history(
        exchange,
        response.session(),
        found.branch(),
        items -> {
          String tag = response.settings().tag();
          then.accept(
              items.stream()
                  .filter(item -> item.role().equals("system"))
                  .map(Reply.Item::content)
                  .filter(system -> ResponseIds.tag(system).equals(tag))
                  .findFirst()
                  .map(same -> new Found(response.with(same), found.branch(), found.input()))
                  .orElse(found));
        });
  }

  /** Asks for the history of a branch; passes an empty list if there is none. */
  void history(Exchange exchange, String session, String branch, Consumer<List<Reply.Item>> then) {
    asking.history(
        exchange,
        session,
        branch,
        reply -> then.accept(reply == null || reply.items() == null ? List.of() : reply.items()));
  }
}
