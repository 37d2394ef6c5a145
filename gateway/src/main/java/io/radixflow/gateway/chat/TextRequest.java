package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.chat.ChatSessions.Root;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.RequestFields;
import io.radixflow.jobs.json.InvalidInputException;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.jobs.json.Texts;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.GenerationOptions;
import java.util.List;
import java.util.Set;

/**
 * A request for completions of prompts, which the model gets as they are.
 *
 * @param model the name that responses have
 * @param prompts their texts
 * @param options what was given, for each choice of a prompt
 */
record TextRequest(
    String model,
    List<String> prompts,
    List<GenerationOptions> options,
    boolean stream,
    boolean usage)
    implements CompletionRequest {

  private static final int MAX_PROMPTS = 16;
  private static final int MAX_CHOICES = 16;

  /** The limit that OpenAI's API takes where none is given. */
  private static final int DEFAULT_TOKENS = 16;

  private static final Set<String> SERVED = CompletionRequest.served("prompt");

  private static final Set<String> REFUSED = Set.of("echo", "suffix", "prompt_embeds");

  static TextRequest read(Exchange exchange, ServedModels models) {
    ObjectNode raw = exchange.body();
    if (raw.path("best_of").asInt(1) > raw.path("n").asInt(1)) {
      throw ApiException.notServed("best_of");
    }
    JsonNode choice = raw.path("tool_choice");
    if (choice.isObject() || choice.asText().equals("required")) {
      throw ApiException.badRequest(
          "tool_choice",
          "tool_choice asks for a call, and a completion of a prompt has none: ask for a chat"
              + " completion");
    }
    JsonObject body = RequestFields.check(exchange, SERVED, REFUSED);
    RequestFields.ignore(exchange, ReplyShape.rename(raw));
    long choices = body.integer("n", 1, MAX_CHOICES, 1);
    List<String> prompts = prompts(body);
    if (choices * prompts.size() > MAX_CHOICES) {
      throw new InvalidInputException(
          "prompt has " + prompts.size() + " texts; with n at most " + MAX_CHOICES + " choices");
    }
    raw.remove("n");
    Long top = body.integer("logprobs", 0, 20);
    raw.remove("logprobs");
    if (top != null) {
      raw.put("logprobs", true).put("top_logprobs", top);
    }
    if (!body.has("max_tokens")) {
      raw.put("max_tokens", DEFAULT_TOKENS);
    }
    return new TextRequest(
        models.served(exchange.caller(), body.text("model")),
        prompts,
        ChatRequest.options(raw, (int) choices).stream().map(GenerationFields::asText).toList(),
        body.bool("stream", false),
        CompletionRequest.usage(body));
  }

  private static List<String> prompts(JsonObject body) {
    body.require("prompt");
    JsonNode prompt = body.get("prompt");
    if (prompt.isArray() && (prompt.path(0).isNumber() || prompt.path(0).isArray())) {
      throw new ApiException(
          400,
          "invalid_request_error",
          "unsupported_parameter",
          "prompt",
          "prompt has token ids, which are not served yet: send texts");
    }
    List<String> prompts = body.texts("prompt", MAX_PROMPTS);
    if (prompts.isEmpty() || prompts.stream().anyMatch(String::isEmpty)) {
      throw new InvalidInputException("prompt is empty: it must say something");
    }
    return prompts.stream().map(Texts::wellFormed).toList();
  }

  @Override
  public int choices() {
    return prompts.size() * options.size();
  }

  @Override
  public int choicesOfPrompt() {
    return options.size();
  }

  @Override
  public Root session(String turn) {
    return Root.first("cmpl_" + turn, true);
  }

  /**
   * Each choice has a session of its own, as turns of one session's prompts wait for each other.
   */
  @Override
  public ConversationEvent event(Exchange exchange, Root root, String turn, int choice) {
    int perPrompt = choicesOfPrompt();
    return ConversationEvent.prompt(root.id() + "." + choice, turn, prompts.get(choice / perPrompt))
        .tenant(exchange.caller().tenant())
        .options(options.get(choice % perPrompt))
        .origin(exchange.origin())
        .build();
  }

  @Override
  public CompletionJson json(String id, long created) {
    return new TextJson(id, created, model);
  }
}
