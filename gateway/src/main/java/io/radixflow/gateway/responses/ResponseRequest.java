package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.api.CacheTtl;
import io.radixflow.gateway.api.GenerationFields;
import io.radixflow.gateway.api.JsonFormat;
import io.radixflow.gateway.api.ReplyShapers;
import io.radixflow.gateway.api.RequestFields;
import io.radixflow.gateway.api.ToolReader;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.event.GenerationOptionsReader;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.Message;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A request for a response, read and checked.
 *
 * @param input the new messages
 * @param instructions the system prompt of only this response, or null
 * @param conversation the id of the response's conversation, or null
 * @param stream whether the client wants events
 * @param options the options of generation; a field that was not given is null
 * @param pinMillis minimum time to keep the prompt's pages, in milliseconds; 0 for none
 * @param metadata the client's own entries
 * @param settings the settings of this request that the response repeats
 * @param ignored paths of fields that have no effect
 */
record ResponseRequest(
    List<Message> input,
    String instructions,
    String conversation,
    boolean stream,
    GenerationOptions options,
    long pinMillis,
    Metadata metadata,
    ResponseSettings settings,
    Set<String> ignored) {

  private static final int MAX_NAME = 256;

  /** Supported fields. */
  private static final Set<String> SERVED =
      RequestFields.names(
          """
          background continue_final_message conversation include input instructions
          max_output_tokens metadata chat_template_kwargs parallel_tool_calls reasoning
          tool_parser thinking_token_budget model previous_response_id prompt_cache_key
          prompt_cache_options prompt_cache_retention safety_identifier store stream text
          tool_choice tools top_logprobs truncation user
          """);

  /** Fields without an effect here that clients send by default. */
  private static final Set<String> HARMLESS = Set.of("stream_options");

  /** Unsupported fields that would change the meaning of the reply. */
  private static final Set<String> NOT_SERVED = Set.of("prompt");

  /** Fields that have the same name in events. */
  private static final List<String> SAME =
      List.of(
          "parallel_tool_calls",
          "tool_parser",
          "chat_template_kwargs",
          "thinking_token_budget",
          "truncation",
          "continue_final_message");

  private static final List<String> FORMATS = List.of("text", "json_object", "json_schema");

  /** The value of {@code include} for log probabilities. */
  static final String LOGPROBS = "message.output_text.logprobs";

  private static final Set<String> INCLUDES = Set.of(LOGPROBS, "reasoning.encrypted_content");

  /**
   * Reads the body of a request, and names its ignored fields in the response.
   *
   * @param model the model for a request that does not name a model
   * @param dropsOldest as in {@link #of}
   */
  static ResponseRequest read(Exchange exchange, String model, boolean dropsOldest) {
    JsonObject body = JsonObject.of(exchange.body(), "the body");
    long now = System.currentTimeMillis() / 1000;
    ResponseRequest request = of(body, now, model, dropsOldest, exchange.refusesParts());
    RequestFields.ignore(exchange, List.copyOf(request.ignored()));
    return request;
  }

  /**
   * Reads a request.
   *
   * @param now seconds since the epoch
   * @param model the model for a request that does not name a model
   * @param dropsOldest whether the job drops the oldest turns of a conversation that is too long,
   *     for requests that do not set {@code truncation}
   * @param refuseParts whether parts of messages that no model can read are refused
   */
  static ResponseRequest of(
      JsonObject body, long now, String model, boolean dropsOldest, boolean refuseParts) {
    Set<String> ignored = new LinkedHashSet<>();
    for (String name : body.names()) {
      if (NOT_SERVED.contains(name) && body.has(name)) {
        throw new InvalidInputException(name + " is not served yet");
      }
      if (!SERVED.contains(name)
          && !GenerationFields.SAME.contains(name)
          && !HARMLESS.contains(name)) {
        if (ReplyShapers.shapes(
            name, body.get(name) == null ? NullNode.instance : body.get(name))) {
          throw new InvalidInputException(name + " is not served yet");
        }
        ignored.add(name);
      }
    }
    ObjectNode options = Json.object();
    SAME.forEach(name -> options.set(name, body.get(name)));
    Set<String> custom =
        new ToolReader(ToolReader.Form.RESPONSES, ignored::add).read(body, options);
    readReasoning(body.object("reasoning"), options, ignored);
    readFormat(body.object("text"), options, ignored);
    boolean logprobs = includes(body, ignored);
    ResponseSettings settings = settings(body, now, model, dropsOldest, logprobs, custom);
    String conversation = conversation(body);
    String previous = settings.previous();
    if (previous != null && conversation != null) {
      throw new InvalidInputException(
          "conversation and previous_response_id exclude each other: give one of them");
    }
    return new ResponseRequest(
        InputItems.read(body, "input", new ContentParts(refuseParts, ignored::add)),
        instructions(body),
        conversation,
        body.bool("stream", false),
        GenerationFields.read(
            body,
            "max_output_tokens",
            "stop",
            settings.logprobs() ? settings.topLogprobs() : -1,
            options),
        CacheTtl.pinMillis(body, settings.promptCacheRetention()),
        Metadata.of(body),
        settings,
        ignored);
  }

  private static void readReasoning(JsonObject reasoning, ObjectNode options, Set<String> ignored) {
    if (reasoning != null) {
      options.set("reasoning_effort", reasoning.get("effort"));
      reasoning.leaveOut(List.of("effort"), ignored::add);
    }
  }

  private static void readFormat(JsonObject text, ObjectNode options, Set<String> ignored) {
    if (text == null) {
      return;
    }
    JsonObject format = text.object("format");
    if (format != null && "json_schema".equals(format.text("type"))) {
      format.require("name");
    }
    JsonFormat.read(format, FORMATS, options, ignored::add);
    text.leaveOut(List.of("format"), ignored::add);
  }

  private static String instructions(JsonObject body) {
    String given = body.text("instructions");
    return given == null || given.isBlank() ? null : Texts.wellFormed(given);
  }

  /** Returns whether the request asks to include log probabilities. */
  private static boolean includes(JsonObject body, Set<String> ignored) {
    List<String> include = body.texts("include", 64);
    if (include == null) {
      return false;
    }
    for (String name : include) {
      if (!INCLUDES.contains(name)) {
        ignored.add("include=" + Texts.quote(name));
      }
    }
    return include.contains(LOGPROBS);
  }

  private static ResponseSettings settings(
      JsonObject body,
      long now,
      String model,
      boolean dropsOldest,
      boolean logprobs,
      Set<String> custom) {
    boolean background = body.bool("background", false);
    boolean store = body.bool("store", true);
    if (background && !store) {
      throw new InvalidInputException("background needs store, as its response is read later");
    }
    Long tokens = GenerationOptionsReader.limit(body, "max_output_tokens");
    String name = name(body, "model");
    String truncation = body.text("truncation");
    return new ResponseSettings(
        now,
        name == null ? model : name,
        body.number("temperature", 0, 2),
        body.number("top_p", 0, 1),
        tokens == null ? null : Integer.valueOf(tokens.intValue()),
        (int) body.integer("top_logprobs", 0, 20, 0),
        logprobs || body.integer("top_logprobs", 0, 20, 0) > 0,
        background,
        store,
        truncation == null ? dropsOldest : truncation.equals("auto"),
        body.text("previous_response_id"),
        ResponseIds.tag(instructions(body)),
        name(body, "user"),
        name(body, "safety_identifier"),
        name(body, "prompt_cache_key"),
        name(body, "prompt_cache_retention"),
        custom);
  }

  private static String name(JsonObject body, String field) {
    String name = body.text(field);
    if (name != null && Texts.length(name) > MAX_NAME) {
      throw new InvalidInputException(field + " has more than " + MAX_NAME + " characters");
    }
    return name == null ? null : Texts.wellFormed(name);
  }

  private static String conversation(JsonObject body) {
    JsonNode value = body.get("conversation");
    if (value == null || value.isTextual()) {
      return value == null ? null : value.textValue();
    }
    return body.object("conversation").require("id").text("id");
  }
}
