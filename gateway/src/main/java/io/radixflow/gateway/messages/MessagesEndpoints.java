package io.radixflow.gateway.messages;

import io.radixflow.gateway.chat.ServedModels;
import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.RandomIds;
import io.radixflow.gateway.http.Routes;
import io.radixflow.gateway.turn.TurnStream;
import io.radixflow.gateway.turn.Turns;
import io.radixflow.jobs.config.GatewayConfig;
import io.radixflow.jobs.config.GatewayConfig.OnDisconnect;
import io.radixflow.jobs.config.Settings;
import io.radixflow.operators.record.CacheHints;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.EventKind;
import io.vertx.core.http.HttpMethod;
import java.util.List;

/** {@code POST /v1/messages}, as Anthropic's clients call it. */
public final class MessagesEndpoints implements EndpointGroup {

  private final Turns turns;
  private final ServedModels models;
  private final OnDisconnect onDisconnect;

  public MessagesEndpoints(Settings settings, Turns turns, ServedModels models) {
    this.turns = turns;
    this.models = models;
    this.onDisconnect = settings.get(GatewayConfig.ON_DISCONNECT);
  }

  @Override
  public void addTo(Routes routes) {
    AnthropicErrors errors = new AnthropicErrors();
    routes.add(HttpMethod.POST, "/v1/messages", errors, this::create);
  }

  private void create(Exchange exchange) {
    exchange.setHeader("request-id", RandomIds.next("req"));
    MessagesRequest request = MessagesRequest.read(exchange, false);
    String id = RandomIds.next("msg");
    ConversationEvent event =
        ConversationEvent.builder(EventKind.MESSAGE, RandomIds.next("messages"), id)
            .tenant(exchange.caller().tenant())
            .messages(request.messages())
            .options(request.options())
            .cache(hints(request))
            .build();
    MessageJson json =
        new MessageJson(id, models.served(exchange.caller(), request.model()), request.pinMillis() > 0);
    TurnStream turn;
    if (request.stream()) {
      MessageStream stream = new MessageStream(exchange, json);
      turn = turns.start(event, exchange.following(), stream);
      stream.of(turn);
    } else {
      turn = turns.start(event, exchange.following(), new MessageCollector(exchange, json));
    }
    exchange.onGone(onDisconnect == OnDisconnect.CANCEL ? turn::cancel : turn::close);
  }

  private static CacheHints hints(MessagesRequest request) {
    return request.pinMillis() == 0
        ? null
        : new CacheHints(false, request.pinMillis(), List.of(), null);
  }
}
