package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.config.Settings;
import io.radixflow.gateway.api.ServedModels;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Routes;
import io.radixflow.gateway.responses.ResponseFollower.Answer;
import io.radixflow.gateway.responses.ResponseLookup.Found;
import io.radixflow.gateway.text.ModelText;
import io.radixflow.gateway.turn.TurnKey;
import io.radixflow.gateway.turn.TurnStream;
import io.radixflow.gateway.turn.Turns;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.vertx.core.http.HttpMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Creates, reads, resumes, cancels and deletes responses. */
public final class ResponsesEndpoints implements EndpointGroup {

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,15}");

  private final Turns turns;
  private final Asking asking;
  private final ResponseLookup lookup;
  private final ResponseCreation creation;
  private final InputTokens counting;

  public ResponsesEndpoints(Settings settings, Turns turns, ServedModels models, ModelText text) {
    this.turns = turns;
    this.asking = new Asking(turns);
    this.lookup = new ResponseLookup(asking, models.name());
    this.creation = new ResponseCreation(settings, turns, asking, lookup, models);
    this.counting = new InputTokens(settings, asking, lookup, models, text);
  }

  @Override
  public void addTo(Routes routes) {
    routes.add(HttpMethod.POST, "/v1/responses", creation::create);
    routes.add(HttpMethod.POST, "/v1/responses/input_tokens", counting::count);
    routes.add(HttpMethod.GET, "/v1/responses/{id}", this::get);
    routes.add(HttpMethod.DELETE, "/v1/responses/{id}", this::delete);
    routes.add(HttpMethod.POST, "/v1/responses/{id}/cancel", this::cancel);
    routes.add(HttpMethod.GET, "/v1/responses/{id}/input_items", this::inputItems);
  }

  private void get(Exchange exchange) {
    boolean stream = "true".equals(exchange.queryParameter("stream"));
    long after = after(exchange.queryParameter("starting_after"));
    boolean logprobs = wantsLogprobs(exchange);
    lookup.find(
        exchange,
        exchange.pathParameter("id"),
        found -> {
          if (logprobs && found.response().isFinal()) {
            throw ApiException.badRequest(
                "include",
                "include has message.output_text.logprobs, which are not kept after a response has"
                    + " ended: they are in its stream, and in the answer to the request that made"
                    + " it");
          }
          if (stream) {
            stream(exchange, found.response(), after);
          } else {
            exchange.json(ResponseJson.response(found.response()));
          }
        });
  }

  private static boolean wantsLogprobs(Exchange exchange) {
    List<String> included = new ArrayList<>(exchange.queryParameters("include"));
    included.addAll(exchange.queryParameters("include[]"));
    return included.contains(ResponseRequest.LOGPROBS);
  }

  private static long after(String number) {
    if (number == null) {
      return -1;
    }
    if (!NUMBER.matcher(number).matches()) {
      throw ApiException.badRequest("starting_after", "starting_after is not a sequence number");
    }
    return Long.parseLong(number);
  }

  private void stream(Exchange exchange, ResponseRecord response, long after) {
    ResponseFollower follower = new ResponseFollower(exchange, response, Answer.STREAM, after);
    if (response.isFinal()) {
      follower.end(response);
      return;
    }
    follower.accepted();
    TurnStream turn = turns.resume(key(exchange, response), 0, exchange.following(), follower);
    follower.of(turn);
    exchange.onGone(turn::close);
  }

  private static TurnKey key(Exchange exchange, ResponseRecord response) {
    return new TurnKey(exchange.caller().tenant(), response.session(), response.turn());
  }

  /** Cancels a response unless it has ended, and answers with its new state. */
  private void cancel(Exchange exchange) {
    lookup.find(
        exchange,
        exchange.pathParameter("id"),
        found -> {
          ResponseRecord response = found.response();
          if (!response.settings().background()) {
            throw ApiException.badRequest(
                null, "Cannot cancel a synchronous response: it was not made with background.");
          }
          if (response.isFinal()) {
            exchange.json(ResponseJson.response(response));
            return;
          }
          TurnKey key = key(exchange, response);
          ResponseFollower follower = new ResponseFollower(exchange, response, Answer.WHOLE, -1);
          TurnStream turn = turns.resume(key, 0, exchange.following(), follower);
          exchange.onGone(turn::close);
          turns.cancel(key);
        });
  }

  private void delete(Exchange exchange) {
    String id = exchange.pathParameter("id");
    lookup.find(
        exchange,
        id,
        found -> {
          ResponseRecord response = found.response();
          if (!response.isFinal()) {
            throw ApiException.badRequest(
                null, "the response is in progress: cancel it before it is deleted");
          }
          ConversationEvent event =
              Asking.event(exchange, EventKind.DELETE_TURN, response.session())
                  .atTurn(response.turn())
                  .build();
          asking.ask(exchange, event, answer -> deleted(exchange, id, answer.error() == null));
        });
  }

  private static void deleted(Exchange exchange, String id, boolean done) {
    if (!done) {
      throw ResponseErrors.noResponse(id);
    }
    exchange.json(ResponseJson.deleted(id, "response"));
  }

  private void inputItems(Exchange exchange) {
    ItemPage page = ItemPage.of(exchange);
    lookup.find(
        exchange, exchange.pathParameter("id"), found -> exchange.json(page.of(items(found))));
  }

  private static List<ObjectNode> items(Found found) {
    List<ObjectNode> items = new ArrayList<>();
    String turn = found.response().turn();
    CustomCalls custom = new CustomCalls(found.response().settings().custom());
    for (int i = 0; i < found.input().size(); i++) {
      items.addAll(ResponseJson.items(turn, i, found.input().get(i), List.of(), custom));
    }
    return items;
  }
}
