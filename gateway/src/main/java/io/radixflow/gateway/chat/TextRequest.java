package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.api.GenerationFields;
import io.radixflow.gateway.api.RequestFields;
import io.radixflow.gateway.api.ServedModels;
import io.radixflow.gateway.api.SessionFinder.Root;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.TokenOptions;
import java.util.List;
import java.util.Set;

/**
 * A request for completions of prompts; the model gets the prompts as they are.
 *
 * @param model the name that responses have
 * @param prompts the prompts, in order
 * @param options the options of each choice of a prompt
 * @param usage which events of a stream have counts of tokens
 * @param echo whether completions begin with their prompts
 * @param style how single tokens are shown
 * @param timings which timings a stream shows
 */
record TextRequest(
    String model,
    List<TextPrompt> prompts,
    List<GenerationOptions> options,
    boolean stream,
    StreamUsage usage,
    boolean echo,
    TokenStyle style,
    Timings timings)
    implements CompletionRequest {

  private static final int MAX_PROMPTS = 16;
  private static final int MAX_CHOICES = 16;

  /** The default limit of OpenAI's API. */
  private static final int DEFAULT_TOKENS = 16;

  static final Set<String> SERVED =
      CompletionRequest.served("prompt echo truncate_prompt_tokens add_special_tokens");

  private static final Set<String> REFUSED = Set.of("suffix", "prompt_embeds");

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
    List<String> ignored = ReplyShape.rename(raw);
    NestedFields.leaveOut(raw, ignored::add);
    RequestFields.ignore(exchange, ignored);
    long choices = body.integer("n", 1, MAX_CHOICES, 1);
    List<TextPrompt> prompts = TextPrompt.read(body, MAX_PROMPTS);
    TokenStyle style = TokenStyle.read(body, raw);
    Timings timings = Timings.read(body, raw);
    if (choices * prompts.size() > MAX_CHOICES) {
      throw new InvalidInputException(
          "prompt has " + prompts.size() + " prompts; with n at most " + MAX_CHOICES + " choices");
    }
    raw.remove("n");
    Long top = body.integer("logprobs", 0, 20);
    raw.remove("logprobs");
    if (top != null) {
      raw.put("logprobs", true).put("top_logprobs", top);
    }
    boolean echo = body.bool("echo", false);
    if (prompts.stream().noneMatch(prompt -> prompt.text() == null)) {
      raw.remove("echo"); // the response takes the texts from the request
    }
    if (echo && top != null && !body.has("prompt_logprobs")) {
      raw.put("prompt_logprobs", top);
    }
    if (!body.has("max_tokens")) {
      raw.put("max_tokens", DEFAULT_TOKENS);
    }
    return new TextRequest(
        models.served(exchange.caller(), body.text("model")),
        prompts,
        ChatRequest.options(raw, (int) choices).stream().map(GenerationFields::asText).toList(),
        body.bool("stream", false),
        StreamUsage.read(body),
        echo,
        style,
        timings);
  }

  /**
   * Returns whether the echoed prompt comes from the job, in pieces, instead of from the request.
   */
  boolean echoesTokens(int choice) {
    return echo && (prompt(choice).text() == null || showsPrompt(options.get(0).tokens()));
  }

  private static boolean showsPrompt(TokenOptions options) {
    return options != null && options.showsPrompt();
  }

  /** Returns whether the request asks for log probabilities. */
  boolean logprobs() {
    return Boolean.TRUE.equals(options.get(0).logprobs());
  }

  /** Returns the prompt of a choice. */
  TextPrompt prompt(int choice) {
    return prompts.get(choice / choicesOfPrompt());
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
   * {@inheritDoc} Each choice has its own session, because turns of one session wait for each
   * other.
   */
  @Override
  public ConversationEvent event(Exchange exchange, Root root, String turn, int choice) {
    int perPrompt = choicesOfPrompt();
    return ConversationEvent.prompt(
            root.id() + "." + choice, turn, prompts.get(choice / perPrompt).message())
        .tenant(exchange.caller().tenant())
        .options(options.get(choice % perPrompt))
        .origin(exchange.origin())
        .build();
  }

  @Override
  public CompletionJson json(String id, long created) {
    return new TextJson(id, created, model, this);
  }
}
