package io.radixflow.gateway.messages;

import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.GatewayConfig.OnDisconnect;
import io.radixflow.client.config.Settings;
import io.radixflow.gateway.api.ApiTurns;
import io.radixflow.gateway.api.CacheTtl;
import io.radixflow.gateway.api.ServedModels;
import io.radixflow.gateway.api.SessionFinder;
import io.radixflow.gateway.api.SessionFinder.Root;
import io.radixflow.gateway.api.WholeReply;
import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.http.RandomIds;
import io.radixflow.gateway.http.Routes;
import io.radixflow.gateway.text.ModelText;
import io.radixflow.gateway.turn.Turns;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.vertx.core.http.HttpMethod;

/** The endpoints of {@code /v1/messages} for Anthropic's clients. */
public final class MessagesEndpoints implements EndpointGroup {

  private final Turns turns;
  private final ServedModels models;
  private final ModelText text;
  private final OnDisconnect onDisconnect;

  public MessagesEndpoints(Settings settings, Turns turns, ServedModels models, ModelText text) {
    this.turns = turns;
    this.text = text;
    this.models = models;
    this.onDisconnect = settings.get(GatewayConfig.ON_DISCONNECT);
  }

  @Override
  public void addTo(Routes routes) {
    AnthropicErrors errors = new AnthropicErrors();
    routes.addOpen(HttpMethod.HEAD, "/", MessagesEndpoints::alive);
    routes.add(HttpMethod.POST, "/v1/messages", errors, this::create);
    routes.add(HttpMethod.POST, "/v1/messages/count_tokens", errors, this::count);
  }

  /** Answers Claude Code's check whether the server is reachable. */
  private static void alive(Exchange exchange) {
    exchange.send(200, "text/plain", new byte[0]);
  }

  private void create(Exchange exchange) {
    exchange.setHeader("request-id", exchange.id());
    MessagesRequest request = MessagesRequest.read(exchange, false);
    String model = models.served(exchange.caller(), request.model());
    Root session = SessionFinder.of(exchange, null, request.user(), model, request.messages());
    String repeatable = SessionFinder.repeatableTurn(exchange);
    String turn = repeatable == null ? RandomIds.next("msg") : repeatable;
    MessageWriter json = new MessageWriter(turn, model, request.pinMillis() > 0);
    ApiTurns turns =
        new ApiTurns(
            this.turns,
            exchange,
            1,
            (root, choice) -> event(exchange, request, root, turn),
            request.stream()
                ? new MessageStream(exchange, json)
                : new WholeReply(exchange, json, 1),
            repeatable != null);
    exchange.onGone(onDisconnect == OnDisconnect.CANCEL ? turns::cancel : turns::close);
    turns.start(session);
  }

  private static ConversationEvent event(
      Exchange exchange, MessagesRequest request, Root root, String turn) {
    return ConversationEvent.builder(EventKind.MESSAGE, root.id(), turn)
        .tenant(exchange.caller().tenant())
        .origin(exchange.origin())
        .messages(request.messages())
        .matchHistory(true)
        .options(request.options())
        .cache(CacheTtl.hints(request.pinMillis()))
        .build();
  }

  private void count(Exchange exchange) {
    MessagesRequest request = MessagesRequest.read(exchange, true);
    models.served(exchange.caller(), request.model());
    exchange.blocking(
        () -> text.count(request.messages(), request.options(), "messages"),
        tokens -> exchange.json(Json.object().put("input_tokens", tokens)));
  }
}
