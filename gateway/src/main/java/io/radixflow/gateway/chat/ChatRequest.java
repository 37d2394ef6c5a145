package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.RequestFields;
import io.radixflow.jobs.event.GenerationOptionsReader;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.record.Message;
import java.util.List;
import java.util.Set;

/**
 * A request for a chat completion.
 *
 * @param model the name that responses have
 * @param messages the whole conversation
 * @param options what was given, or null
 * @param choices how many replies are wanted
 * @param stream whether pieces are wanted as they come
 * @param usage whether the last event of a stream is to have the counts of tokens
 */
record ChatRequest(
    String model,
    List<Message> messages,
    GenerationOptions options,
    int choices,
    boolean stream,
    boolean usage) {

  private static final int MAX_CHOICES = 1;

  private static final Set<String> SERVED =
      Set.of(
          "model",
          "messages",
          "stream",
          "stream_options",
          "n",
          "temperature",
          "top_k",
          "top_p",
          "min_p",
          "repetition_penalty",
          "presence_penalty",
          "frequency_penalty",
          "logit_bias",
          "max_tokens",
          "max_completion_tokens",
          "stop",
          "seed",
          "priority");

  private static final Set<String> REFUSED =
      Set.of(
          "tools",
          "functions",
          "logprobs",
          "top_logprobs",
          "audio",
          "web_search_options",
          "guided_json",
          "guided_regex",
          "guided_choice",
          "guided_grammar",
          "structured_outputs");

  static ChatRequest read(Exchange exchange, ServedModels models) {
    ObjectNode raw = exchange.body();
    refuseFormat(raw);
    if (raw.hasNonNull("max_completion_tokens")) {
      raw.remove("max_tokens");
    }
    JsonObject body = RequestFields.check(exchange, SERVED, REFUSED);
    long choices = body.integer("n", 1, MAX_CHOICES, 1);
    raw.remove("n");
    JsonObject streaming = body.object("stream_options");
    return new ChatRequest(
        models.served(exchange.caller(), body.text("model")),
        ChatMessages.read(body),
        GenerationOptionsReader.read(body),
        (int) choices,
        body.bool("stream", false),
        streaming != null && streaming.bool("include_usage", false));
  }

  /** A format other than text would change the reply; text is what there is. */
  private static void refuseFormat(ObjectNode body) {
    String type = body.path("response_format").path("type").asText("text");
    if (!type.equals("text")) {
      throw ApiException.notServed("response_format");
    }
    body.remove("response_format");
  }
}
