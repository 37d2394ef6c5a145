package io.radixflow.gateway.chat;

import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.GatewayConfig.OnDisconnect;
import io.radixflow.client.config.Settings;
import io.radixflow.gateway.api.ApiOutput;
import io.radixflow.gateway.api.ApiTurns;
import io.radixflow.gateway.api.FirstSent;
import io.radixflow.gateway.api.ServedModels;
import io.radixflow.gateway.api.SessionFinder;
import io.radixflow.gateway.api.WholeReply;
import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.RandomIds;
import io.radixflow.gateway.http.Routes;
import io.radixflow.gateway.turn.Turns;
import io.radixflow.protocol.record.ConversationEvent;
import io.vertx.core.http.HttpMethod;

/** Completions of chats and of prompts. */
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
    routes.add(
        HttpMethod.POST,
        "/v1/chat/completions",
        exchange -> complete(exchange, ChatRequest.read(exchange, models), "chatcmpl"));
    routes.add(
        HttpMethod.POST,
        "/v1/completions",
        exchange -> complete(exchange, TextRequest.read(exchange, models), "cmpl"));
  }

  private void complete(Exchange exchange, CompletionRequest request, String kind) {
    String repeatable = SessionFinder.repeatableTurn(exchange);
    String turn = repeatable == null ? RandomIds.next(kind) : repeatable;
    long created = System.currentTimeMillis() / 1000;
    CompletionJson json = request.json(turn, created);
    ApiOutput output =
        request.stream()
            ? new ChatStream(exchange, json, request)
            : new WholeReply(exchange, json, request.choices());
    ApiTurns started =
        new ApiTurns(
            turns,
            exchange,
            request.choices(),
            (root, choice) -> {
              ConversationEvent event = request.event(exchange, root, turn, choice);
              return repeatable == null ? event : FirstSent.on(event, created);
            },
            output,
            repeatable != null);
    exchange.onGone(onDisconnect == OnDisconnect.CANCEL ? started::cancel : started::close);
    started.start(request.session(turn));
  }
}
