package io.radixflow.gateway.chat;

import io.radixflow.gateway.chat.ChatSessions.Root;
import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.RandomIds;
import io.radixflow.gateway.http.Routes;
import io.radixflow.gateway.turn.Turns;
import io.radixflow.jobs.config.GatewayConfig;
import io.radixflow.jobs.config.GatewayConfig.OnDisconnect;
import io.radixflow.jobs.config.Settings;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.EventKind;
import io.vertx.core.http.HttpMethod;

/** {@code POST /v1/chat/completions}. */
public final class ChatEndpoints implements EndpointGroup {

  private final Turns turns;
  private final ServedModels models;
  private final OnDisconnect onDisconnect;

  public ChatEndpoints(Settings settings, Turns turns, ServedModels models) {
    this.turns = turns;
    this.models = models;
    this.onDisconnect = settings.get(GatewayConfig.ON_DISCONNECT);
  }

  @Override
  public void addTo(Routes routes) {
    routes.add(HttpMethod.POST, "/v1/chat/completions", this::complete);
  }

  private void complete(Exchange exchange) {
    ChatRequest request = ChatRequest.read(exchange, models);
    String repeatable = ChatSessions.repeatableTurn(exchange);
    String turn = repeatable == null ? RandomIds.next("chatcmpl") : repeatable;
    CompletionJson json =
        new ChatJson(turn, System.currentTimeMillis() / 1000, request.model());
    int choices = request.options().size();
    ChatOutput output =
        request.stream()
            ? new ChatStream(exchange, json, choices, request.usage())
            : new ChatCollector(exchange, json, choices);
    ChatTurns started =
        new ChatTurns(
            turns,
            exchange,
            choices,
            (root, choice) -> event(exchange, request, root, turn, choice),
            output,
            repeatable != null);
    exchange.onGone(onDisconnect == OnDisconnect.CANCEL ? started::cancel : started::close);
    exchange.setHeader("X-Radixflow-Session", request.session().id());
    exchange.setHeader("X-Radixflow-Turn", turn);
    started.start(request.session());
  }

  private static ConversationEvent event(
      Exchange exchange, ChatRequest request, Root root, String turn, int choice) {
    return ConversationEvent.builder(
            EventKind.MESSAGE, root.id(), choice == 0 ? turn : turn + "." + choice)
        .tenant(exchange.caller().tenant())
        .messages(request.messages())
        .matchHistory(true)
        .options(request.options().get(choice))
        .cache(request.cache())
        .origin(exchange.origin())
        .build();
  }
}
