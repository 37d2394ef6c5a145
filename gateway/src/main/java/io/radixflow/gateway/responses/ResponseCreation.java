package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.GatewayConfig.OnDisconnect;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.gateway.api.CacheTtl;
import io.radixflow.gateway.api.ServedModels;
import io.radixflow.gateway.api.SessionFinder;
import io.radixflow.gateway.api.SessionFinder.Root;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.responses.ResponseFollower.Answer;
import io.radixflow.gateway.responses.ResponseIds.TurnId;
import io.radixflow.gateway.responses.ResponseRecord.Output;
import io.radixflow.gateway.responses.ResponseRecord.Status;
import io.radixflow.gateway.turn.TurnListener;
import io.radixflow.gateway.turn.TurnStream;
import io.radixflow.gateway.turn.Turns;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import java.util.List;

/**
 * Creates responses: chooses the session of a request and the turn to follow, sends the new turn,
 * and answers.
 *
 * <p>A response without a predecessor begins a session. A response with the same instructions as
 * its predecessor is the next turn of the same session. A response with other instructions sends
 * the conversation again under its own instructions. So the instructions of a response never affect
 * the next response, and cached prefixes are used wherever the prompts are equal.
 */
final class ResponseCreation {

  private final Turns turns;
  private final Asking asking;
  private final ResponseLookup lookup;
  private final ConversationLookup conversations;
  private final ServedModels models;
  private final OnDisconnect onDisconnect;
  private final boolean dropsOldest;

  ResponseCreation(
      Settings settings, Turns turns, Asking asking, ResponseLookup lookup, ServedModels models) {
    this.turns = turns;
    this.asking = asking;
    this.lookup = lookup;
    this.conversations = new ConversationLookup(asking);
    this.models = models;
    this.onDisconnect = settings.get(GatewayConfig.ON_DISCONNECT);
    this.dropsOldest = SharedConfig.dropsOldest(settings);
  }

  /** Serves {@code POST /v1/responses}. */
  void create(Exchange exchange) {
    ResponseRequest request = read(exchange);
    if (request.conversation() != null) {
      inConversation(exchange, request);
    } else if (request.settings().previous() != null) {
      following(exchange, request);
    } else {
      start(exchange, request, first(exchange, request));
    }
  }

  private ResponseRequest read(Exchange exchange) {
    JsonNode model = exchange.body().get("model");
    if (model != null && model.isTextual()) {
      exchange.body().put("model", models.served(exchange.caller(), model.textValue()));
    }
    ResponseRequest request = ResponseRequest.read(exchange, models.name(), dropsOldest);
    if (request.input().isEmpty()) {
      throw ApiException.badRequest("input", "input is missing or empty");
    }
    return request;
  }

  /**
   * Begins a session. A client whose responses are not stored resends the whole conversation each
   * time. If it names the conversation, the response continues the session of that name.
   */
  private static ConversationEvent.Builder first(Exchange exchange, ResponseRequest request) {
    ResponseSettings settings = request.settings();
    String repeatable = SessionFinder.repeatableTurn(exchange);
    Root named =
        SessionFinder.of(
            exchange, settings.promptCacheKey(), settings.user(), settings.model(), List.of());
    boolean matched = !settings.store() && named.named();
    String session = repeatable == null ? ResponseIds.newSession() : "chain_" + repeatable;
    return event(exchange, request, matched ? named.id() : session)
        .matchHistory(matched)
        .messages(Prompts.under(request.instructions(), request.input()));
  }

  private static ConversationEvent.Builder event(
      Exchange exchange, ResponseRequest request, String session) {
    String repeatable = SessionFinder.repeatableTurn(exchange);
    String turn = repeatable == null ? ResponseIds.newTurn() : repeatable;
    return ConversationEvent.builder(EventKind.MESSAGE, session, turn)
        .tenant(exchange.caller().tenant())
        .origin(exchange.origin())
        .options(request.options())
        .metadata(request.metadata().with(request.settings()))
        .cache(CacheTtl.hints(request.pinMillis()));
  }

  private void following(Exchange exchange, ResponseRequest request) {
    String id = request.settings().previous();
    TurnId previous =
        ResponseIds.parseResponse(id).orElseThrow(() -> ResponseErrors.noPrevious(id));
    if (previous.tag().equals(request.settings().tag())) {
      start(
          exchange,
          request,
          event(exchange, request, previous.session())
              .previousTurn(previous.turn())
              .messages(request.input()));
    } else {
      takeAlong(exchange, request, previous);
    }
  }

  /** Sends the conversation up to the previous response again, under the new instructions. */
  private void takeAlong(Exchange exchange, ResponseRequest request, TurnId previous) {
    String id = request.settings().previous();
    lookup.turn(
        exchange,
        id,
        found -> {
          if (found == null) {
            throw ResponseErrors.noPrevious(id);
          }
          if (!found.response().isFinal()) {
            throw ApiException.badRequest(
                "previous_response_id",
                "the previous response is in progress, and has other instructions: wait for its"
                    + " end");
          }
          lookup.history(
              exchange,
              previous.session(),
              found.branch(),
              items ->
                  start(
                      exchange,
                      request,
                      event(exchange, request, previous.session())
                          .matchHistory(true)
                          .messages(
                              Prompts.under(
                                  request.instructions(),
                                  Prompts.and(
                                      Prompts.upTo(items, previous.turn()), request.input())))));
        });
  }

  /** Adds a turn to a conversation; its instructions stay in the conversation as a message. */
  private void inConversation(Exchange exchange, ResponseRequest request) {
    String id = request.conversation();
    conversations.find(
        exchange,
        id,
        items -> {
          String system =
              request.instructions() == null
                      || request.instructions().equals(Prompts.lastSystem(items))
                  ? null
                  : request.instructions();
          start(
              exchange,
              request,
              event(exchange, request, id).messages(Prompts.under(system, request.input())));
        });
  }

  private void start(
      Exchange exchange, ResponseRequest request, ConversationEvent.Builder builder) {
    ConversationEvent event = builder.build();
    SessionFinder.name(exchange, event.session(), event.turn());
    ResponseRecord begun =
        new ResponseRecord(
            event.session(),
            event.turn(),
            request.settings(),
            request.instructions(),
            request.metadata().entries(),
            request.options(),
            Output.none(Status.QUEUED));
    boolean background = request.settings().background();
    Answer early = background ? Answer.EARLY : Answer.WHOLE;
    Answer answer = request.stream() ? Answer.STREAM : early;
    ResponseFollower follower = new ResponseFollower(exchange, begun, answer, -1);
    TurnStream turn = send(exchange, event, follower);
    follower.of(turn);
    boolean goesOn = background || onDisconnect != OnDisconnect.CANCEL;
    exchange.onGone(goesOn ? turn::close : turn::cancel);
    if (answer != Answer.WHOLE && SessionFinder.repeatableTurn(exchange) == null) {
      whenKnown(exchange, event, follower::accepted);
    }
  }

  /** Starts the turn, or resumes it if the client has already sent the request. */
  private TurnStream send(Exchange exchange, ConversationEvent event, TurnListener listener) {
    return SessionFinder.repeatableTurn(exchange) == null
        ? turns.start(event, exchange.following(), listener)
        : turns.startOrResume(event, exchange.following(), listener);
  }

  /** Continues when the job knows the turn. The query follows the turn on the same partition. */
  private void whenKnown(Exchange exchange, ConversationEvent event, Runnable then) {
    asking.turn(
        exchange,
        event.session(),
        event.turn(),
        state -> {
          if (state != null) {
            then.run();
          }
        });
  }
}
