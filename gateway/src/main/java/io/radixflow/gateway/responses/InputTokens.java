package io.radixflow.gateway.responses;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.gateway.api.ServedModels;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.text.ModelText;
import io.radixflow.text.template.Message;
import java.util.List;

/** Counts the tokens that a response's prompt would have. */
final class InputTokens {

  private final ConversationLookup conversations;
  private final ResponseLookup lookup;
  private final ServedModels models;
  private final ModelText text;
  private final boolean dropsOldest;

  InputTokens(
      Settings settings,
      Asking asking,
      ResponseLookup lookup,
      ServedModels models,
      ModelText text) {
    this.dropsOldest = SharedConfig.dropsOldest(settings);
    this.conversations = new ConversationLookup(asking);
    this.lookup = lookup;
    this.models = models;
    this.text = text;
  }

  /** Serves {@code POST /v1/responses/input_tokens}. */
  void count(Exchange exchange) {
    ResponseRequest request = ResponseRequest.read(exchange, models.name(), dropsOldest);
    models.served(exchange.caller(), request.settings().model());
    String previous = request.settings().previous();
    if (request.conversation() != null) {
      conversations.find(
          exchange,
          request.conversation(),
          items -> count(exchange, request, Prompts.upTo(items, null)));
    } else if (previous != null) {
      lookup.turn(
          exchange,
          previous,
          found -> {
            if (found == null) {
              throw ResponseErrors.noPrevious(previous);
            }
            lookup.history(
                exchange,
                found.response().session(),
                found.branch(),
                items -> count(exchange, request, Prompts.upTo(items, found.response().turn())));
          });
    } else {
      count(exchange, request, List.of());
    }
  }

  private void count(Exchange exchange, ResponseRequest request, List<Message> before) {
    List<Message> prompt =
        Prompts.under(request.instructions(), Prompts.and(before, request.input()));
    exchange.blocking(
        () -> prompt.isEmpty() ? 0 : text.count(prompt, request.options(), "input"),
        tokens ->
            exchange.json(
                Json.object().put("object", "response.input_tokens").put("input_tokens", tokens)));
  }
}
