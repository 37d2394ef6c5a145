package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.api.CacheTtl;
import io.radixflow.gateway.api.RequestFields;
import io.radixflow.gateway.api.ServedModels;
import io.radixflow.gateway.api.SessionFinder;
import io.radixflow.gateway.api.SessionFinder.Root;
import io.radixflow.gateway.api.Thinking;
import io.radixflow.gateway.api.ToolReader;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.protocol.event.GenerationOptionsReader;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A request for a chat completion.
 *
 * @param model the model's name in responses
 * @param messages the whole conversation
 * @param options one entry per requested reply; an entry is null if the request sets no options
 * @param custom the names of the request's tools of type custom
 * @param stream whether the client wants a stream of pieces
 * @param root the session of the conversation
 * @param cache the time for which its pages are pinned, or null
 * @param usage which events of a stream have token counts
 * @param reasoning whether the reasoning is shown
 * @param style how single tokens are shown
 * @param timings which timings a stream shows
 */
record ChatRequest(
    String model,
    List<Message> messages,
    List<GenerationOptions> options,
    Set<String> custom,
    Root root,
    CacheHints cache,
    boolean stream,
    StreamUsage usage,
    boolean reasoning,
    TokenStyle style,
    Timings timings)
    implements CompletionRequest {

  private static final int MAX_CHOICES = 16;

  static final Set<String> SERVED =
      CompletionRequest.served(
          """
          messages max_completion_tokens top_logprobs tools tool_choice parallel_tool_calls
          tool_parser chat_template_kwargs reasoning_effort thinking_token_budget prediction
          continue_final_message add_generation_prompt thinking separate_reasoning
          include_reasoning safety_identifier prompt_cache_key prompt_cache_options
          prompt_cache_retention
          """);

  private static final Set<String> REFUSED =
      Set.of("functions", "function_call", "audio", "web_search_options");

  static ChatRequest read(Exchange exchange, ServedModels models) {
    ObjectNode raw = exchange.body();
    if (raw.hasNonNull("max_completion_tokens")) {
      raw.remove("max_tokens");
    }
    List<String> ignored = new ArrayList<>();
    JsonObject body = RequestFields.check(exchange, SERVED, REFUSED);
    Set<String> custom = new ToolReader(ToolReader.Form.CHAT, ignored::add).read(body, raw);
    RequestFields.ignore(exchange, ReplyShape.rename(raw));
    long choices = body.integer("n", 1, MAX_CHOICES, 1);
    raw.remove("n");
    boolean reasoning = showsReasoning(body);
    raw.remove("include_reasoning");
    TokenStyle style = TokenStyle.read(body, raw);
    Timings timings = Timings.read(body, raw);
    Thinking.read(body.object("thinking"), raw, ignored::add);
    NestedFields.leaveOut(raw, ignored::add);
    String model = models.served(exchange.caller(), body.text("model"));
    ContentParts parts = new ContentParts(exchange.refusesParts(), ignored::add);
    List<Message> messages = ChatMessages.read(body, parts);
    RequestFields.ignore(exchange, ignored);
    String user = body.text(body.has("user") ? "user" : "safety_identifier");
    String key = body.text("prompt_cache_key");
    return new ChatRequest(
        model,
        messages,
        options(raw, (int) choices),
        custom,
        SessionFinder.of(exchange, key, user, model, messages),
        CacheTtl.hints(CacheTtl.pinMillis(body, body.text("prompt_cache_retention"))),
        body.bool("stream", false),
        StreamUsage.read(body),
        reasoning,
        style,
        timings);
  }

  private static boolean showsReasoning(JsonObject body) {
    boolean shows = body.bool("include_reasoning", true);
    if (!shows && !body.bool("separate_reasoning", true)) {
      throw ApiException.badRequest(
          "include_reasoning",
          "include_reasoning is false, but separate_reasoning is false too, which leaves the"
              + " reasoning in the content: leave separate_reasoning out");
    }
    return shows;
  }

  /**
   * Returns the options of each choice. Each gets its own seed, because the same seed would make
   * all choices the same.
   */
  static List<GenerationOptions> options(ObjectNode raw, int choices) {
    List<GenerationOptions> options = new ArrayList<>();
    for (int choice = 0; choice < choices; choice++) {
      JsonObject body = JsonObject.of(raw, "the body");
      options.add(GenerationOptionsReader.read(body));
      if (raw.path("seed").isIntegralNumber()) {
        raw.put("seed", raw.get("seed").longValue() + 1);
      }
    }
    return options;
  }

  @Override
  public int choices() {
    return options.size();
  }

  @Override
  public int choicesOfPrompt() {
    return choices();
  }

  @Override
  public Root session(String turn) {
    return root;
  }

  @Override
  public ConversationEvent event(Exchange exchange, Root session, String turn, int choice) {
    return ConversationEvent.builder(
            EventKind.MESSAGE, session.id(), choice == 0 ? turn : turn + "." + choice)
        .tenant(exchange.caller().tenant())
        .messages(messages)
        .matchHistory(true)
        .options(options.get(choice))
        .cache(cache)
        .origin(exchange.origin())
        .build();
  }

  @Override
  public CompletionJson json(String id, long created) {
    return new ChatJson(id, created, model, choices(), custom, reasoning, style);
  }
}
