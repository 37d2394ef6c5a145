package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Roles;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Message;
import io.radixflow.protocol.record.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the messages of a chat, as tolerantly as OpenAI does: any role, content as a text or as
 * parts, null content, tool calls and their results, and fields that have no effect here.
 */
public final class ChatMessages {

  private static final int MAX_PARTS = 10_000;
  private static final int MAX_CALLS = 10_000;

  /** Roles that have another name in events. */
  private static final Map<String, String> RENAMED =
      Map.of("developer", "system", "function", "tool");

  private static final Set<String> THOUGHTS = Set.of("thinking", "reasoning", "redacted_thinking");

  /**
   * The beginning of a block that Claude Code sends first. The block changes with each request, so
   * no cached prefix would match; it has no meaning for the model.
   */
  private static final String BILLING = "x-anthropic-billing-header";

  private final ContentParts parts;

  /** The id of the last call in the older form; the result of such a call does not name it. */
  private String functionCall;

  private int read;

  private ChatMessages(ContentParts parts) {
    this.parts = parts;
  }

  /**
   * Reads the field {@code messages}.
   *
   * @throws InvalidInputException if a message cannot be read
   */
  public static List<Message> read(JsonObject body, ContentParts parts) {
    body.require("messages");
    ChatMessages reader = new ChatMessages(parts);
    List<Message> messages = new ArrayList<>();
    List<JsonObject> given = body.objects("messages", "messages", ConversationEvent.MAX_MESSAGES);
    for (JsonObject each : given) {
      reader.read++;
      Message message = reader.message(each, reader.read == given.size());
      if (message != null) {
        messages.add(message);
      }
    }
    if (messages.isEmpty()) {
      throw new InvalidInputException("messages is empty; it must have at least one message");
    }
    return messages;
  }

  /** The message, or null if it has no content. */
  private Message message(JsonObject given, boolean last) {
    String named = Roles.of(given);
    String role = RENAMED.getOrDefault(named, named);
    if (!Roles.KNOWN.contains(role)) {
      parts.leaveOut(given.path("role") + "=" + Texts.quote(role));
    }
    only("assistant", role, given, "tool_calls");
    only("tool", role, given, "tool_call_id");
    List<ToolCall> calls = calls(given, role);
    String content = content(given, role.equals("tool"));
    if (role.equals("system") && (content.isEmpty() || content.startsWith(BILLING))) {
      return null;
    }
    if (content.isEmpty() && !role.equals("assistant") && !role.equals("tool")) {
      JsonNode nothing = given.get("content");
      if (last && (nothing == null || nothing.isEmpty() && nothing.isArray())) {
        throw new InvalidInputException(given.path("content") + " is missing or has no part");
      } else if (!last) {
        return null;
      }
    }
    String speaker = given.name("name");
    return new Message(
        role,
        content.isEmpty() && !calls.isEmpty() ? null : content,
        speaker == null || speaker.isEmpty() ? null : speaker,
        calls,
        named.equals("function") ? functionCall : given.id("tool_call_id"),
        role.equals("assistant") ? reasoning(given) : null);
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

  private List<ToolCall> calls(JsonObject message, String role) {
    List<ToolCall> calls = new ArrayList<>();
    for (JsonObject call : message.objects("tool_calls", "calls", MAX_CALLS)) {
      String type = call.text("type");
      if (type != null && !type.equals("function")) {
        throw JsonObject.notOneOf(call.path("type"), type, List.of("function"));
      }
      String id = call.has("id") ? call.id("id") : "call_" + read + "_" + calls.size();
      calls.add(call(id, call.require("function").object("function")));
    }
    JsonObject older = role.equals("assistant") ? message.object("function_call") : null;
    if (older != null && calls.isEmpty()) {
      functionCall = "call_" + read;
      calls.add(call(functionCall, older));
    }
    return calls;
  }

  private static ToolCall call(String id, JsonObject function) {
    String name = function.require("name").id("name");
    return new ToolCall(id, name, ContentParts.arguments(function.get("arguments")));
  }

  /** Returns the assistant's reasoning, which clients send under several names. */
  private static String reasoning(JsonObject message) {
    String field = message.has("reasoning_content") ? "reasoning_content" : "reasoning";
    StringBuilder thought = new StringBuilder();
    if (message.has(field)) {
      thought.append(message.text(field));
    } else if (message.has("content") && message.get("content").isArray()) {
      for (JsonObject part : message.objects("content", "parts", MAX_PARTS)) {
        JsonNode said = part.get("thinking") == null ? part.get("text") : part.get("thinking");
        boolean thinks = THOUGHTS.contains(part.text("type"));
        thought.append(thinks && said != null && said.isTextual() ? said.textValue() : "");
      }
    }
    return thought.isEmpty() ? null : Texts.wellFormed(thought.toString());
  }

  /** Returns a text, or the joined texts of parts; empty if the field is null or left out. */
  private String content(JsonObject given, boolean result) {
    JsonNode value = given.get("content");
    if (value == null) {
      return "";
    }
    if (value.isTextual()) {
      return Texts.wellFormed(value.textValue());
    }
    if (!value.isArray()) {
      throw JsonObject.wrongType(given.path("content"), value, "a string or an array of parts");
    }
    for (int i = 0; i < value.size(); i++) {
      if (value.get(i).isTextual()) { // vLLM also accepts these
        ((ArrayNode) value).set(i, Json.object().put("type", "text").set("text", value.get(i)));
      }
    }
    StringBuilder joined = new StringBuilder();
    for (JsonObject part : given.objects("content", "parts", MAX_PARTS)) {
      String type = part.require("type").text("type");
      boolean says = !THOUGHTS.contains(type) && (part.has("text") || !type.equals("text"));
      String text = !says ? "" : result ? parts.ofResult(part) : parts.ofMessage(part);
      joined.append(text.startsWith(BILLING) ? "" : text);
    }
    return Texts.wellFormed(joined.toString());
  }
}
