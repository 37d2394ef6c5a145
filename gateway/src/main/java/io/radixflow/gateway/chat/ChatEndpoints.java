package io.radixflow.gateway.chat;

import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.RandomIds;
import io.radixflow.gateway.http.Routes;
import io.radixflow.gateway.turn.TurnStream;
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
    String turn = RandomIds.next("chatcmpl");
    ConversationEvent event =
        ConversationEvent.builder(EventKind.MESSAGE, RandomIds.next("chat"), turn)
            .tenant(exchange.caller().tenant())
            .messages(request.messages())
            .options(request.options())
            .build();
    ChatJson json = new ChatJson(turn, System.currentTimeMillis() / 1000, request.model());
    TurnStream started;
    if (request.stream()) {
      ChatStream stream = new ChatStream(exchange, json, request.usage());
      started = turns.start(event, exchange.following(), stream);
      stream.of(started);
    } else {
      started = turns.start(event, exchange.following(), new ChatCollector(exchange, json));
    }
    exchange.onGone(onDisconnect == OnDisconnect.CANCEL ? started::cancel : started::close);
  }
}
