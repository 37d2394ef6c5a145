package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.jobs.json.InvalidInputException;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.jobs.json.Texts;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.record.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Reads the messages of a chat, as tolerantly as OpenAI does: the role developer, content as a text
 * or as parts, null content, calls of tools and their results, fields that do not matter here.
 */
public final class ChatMessages {

  private static final int MAX_MESSAGES = 10_000;
  private static final int MAX_PARTS = 10_000;
  private static final int MAX_CALLS = 128;
  private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9_.-]{1,64}");
  private static final Map<String, String> ROLES =
      Map.of(
          "system", "system",
          "developer", "system",
          "user", "user",
          "assistant", "assistant",
          "tool", "tool");
  private static final Set<String> TEXT_PARTS =
      Set.of("text", "input_text", "output_text", "refusal");

  /**
   * A block that Claude Code sends first: it changes with each request, says nothing to the model,
   * and would keep every cached prefix from being found.
   */
  private static final String BILLING = "x-anthropic-billing-header";

  private ChatMessages() {}

  /**
   * Reads the field {@code messages}.
   *
   * @throws InvalidInputException if a message cannot be read
   * @throws ApiException if it has what is not served
   */
  public static List<Message> read(JsonObject body) {
    body.require("messages");
    List<Message> messages = new ArrayList<>();
    for (JsonObject given : body.objects("messages", "messages", MAX_MESSAGES)) {
      Message message = message(given);
      if (message != null) {
        messages.add(message);
      }
    }
    if (messages.isEmpty()) {
      throw new InvalidInputException("messages is empty; it must have at least one message");
    }
    return messages;
  }

  /** The message, or null if it says nothing. */
  private static Message message(JsonObject given) {
    given.require("role");
    String role = ROLES.get(given.text("role"));
    if (role == null) {
      throw JsonObject.notOneOf(given.path("role"), given.text("role"), ROLES.keySet());
    }
    if (given.has("function_call")) {
      throw notServed(given.path("function_call"));
    }
    only("assistant", role, given, "tool_calls");
    only("tool", role, given, "tool_call_id");
    List<ToolCall> calls = calls(given);
    String content = content(given, "content");
    if (role.equals("system") && (content.isEmpty() || content.startsWith(BILLING))) {
      return null;
    }
    if (content.isEmpty() && (role.equals("system") || role.equals("user"))) {
      throw new InvalidInputException(
          given.path("content") + " is empty: a message must say something");
    }
    return new Message(
        role,
        content.isEmpty() && !calls.isEmpty() ? null : content,
        speaker(given),
        calls,
        given.id("tool_call_id"),
        role.equals("assistant") ? reasoning(given) : null);
  }

  private static ApiException notServed(String path) {
    return new ApiException(
        400,
        "invalid_request_error",
        "unsupported_parameter",
        "messages",
        path + " is not served yet");
  }

  private static void only(String role, String given, JsonObject message, String field) {
    JsonNode value = message.get(field);
    boolean nothing = value == null || value.isArray() && value.isEmpty();
    if (!nothing && !given.equals(role)) {
      throw new InvalidInputException(
          "%s is given, which only a message of role \"%s\" may have"
              .formatted(message.path(field), role));
    }
  }

  private static List<ToolCall> calls(JsonObject message) {
    List<ToolCall> calls = new ArrayList<>();
    for (JsonObject call : message.objects("tool_calls", "calls", MAX_CALLS)) {
      String type = call.text("type");
      if (type != null && !type.equals("function")) {
        throw JsonObject.notOneOf(call.path("type"), type, List.of("function"));
      }
      JsonObject function = call.require("id", "function").object("function");
      String arguments = function.require("name", "arguments").text("arguments");
      calls.add(new ToolCall(call.id("id"), function.id("name"), Texts.wellFormed(arguments)));
    }
    return calls;
  }

  private static String speaker(JsonObject message) {
    String name = message.text("name");
    if (name != null && !NAME.matcher(name).matches()) {
      throw new InvalidInputException(
          message.path("name") + " is " + Texts.quote(name) + "; it must match " + NAME);
    }
    return name;
  }

  /** Returns what the assistant thought, by either name that clients have for it. */
  private static String reasoning(JsonObject message) {
    String field = message.has("reasoning_content") ? "reasoning_content" : "reasoning";
    String reasoning = message.text(field);
    return reasoning == null || reasoning.isEmpty() ? null : Texts.wellFormed(reasoning);
  }

  /** Returns a text, or the joined texts of parts; empty if the field is null or left out. */
  public static String content(JsonObject given, String field) {
    JsonNode value = given.get(field);
    if (value == null) {
      return "";
    }
    if (value.isTextual()) {
      return Texts.wellFormed(value.textValue());
    }
    if (!value.isArray()) {
      throw JsonObject.wrongType(given.path(field), value, "a string or an array of parts");
    }
    StringBuilder joined = new StringBuilder();
    for (JsonObject part : given.objects(field, "parts", MAX_PARTS)) {
      joined.append(part(part));
    }
    return Texts.wellFormed(joined.toString());
  }

  private static String part(JsonObject part) {
    part.require("type");
    String type = part.text("type");
    if (!TEXT_PARTS.contains(type)) {
      throw new ApiException(
          400,
          "invalid_request_error",
          "unsupported_content",
          null,
          part.path("type") + " is " + Texts.quote(type) + ": only text is served yet");
    }
    String text = part.text(type.equals("refusal") ? "refusal" : "text");
    return text == null || text.startsWith(BILLING) ? "" : text;
  }
}
