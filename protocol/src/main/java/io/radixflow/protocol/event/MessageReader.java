package io.radixflow.protocol.event;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Roles;
import io.radixflow.protocol.json.Texts;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Reads messages in the form of events or of an API: roles, contents as texts or as parts, calls of
 * tools, and reasoning. One object reads one request.
 */
public final class MessageReader {

  /** The forms of messages: the names and tolerances by which they differ. */
  public enum Form {
    /** Messages of events. A field or part that is not known is refused. */
    EVENT("parts", "", Map.of(), null),

    /** Messages of chat completions. */
    CHAT("parts", "", Map.of("developer", "system", "function", "tool"), Roles.KNOWN),

    /** Items of OpenAI's responses. */
    ITEMS("parts", "", Map.of("developer", "system"), Roles.KNOWN),

    /** Messages of Anthropic. Claude Code sends a system message after the first message. */
    BLOCKS("blocks", "\n\n", Map.of("developer", "system"), Set.of("user", "assistant", "system"));

    private final String parts;
    private final String between;
    private final Map<String, String> renamed;
    private final Collection<String> usual;

    /**
     * @param parts the name of the parts of a content
     * @param between the text between the texts of two parts
     * @param renamed roles that have another name in events
     * @param usual roles that need no notice; null if no role needs a notice
     */
    Form(String parts, String between, Map<String, String> renamed, Collection<String> usual) {
      this.parts = parts;
      this.between = between;
      this.renamed = renamed;
      this.usual = usual;
    }
  }

  /** The most calls of one message. */
  public static final int MAX_CALLS = 10_000;

  /**
   * The beginning of a text that Claude Code sends first. The text changes with each request, so no
   * cached prefix would match; it has no meaning for the model.
   */
  private static final String BILLING = "x-anthropic-billing-header";

  private static final int MAX_PARTS = 10_000;
  private static final int MAX_PARTS_OF_EVENT = 1000;
  private static final String CUSTOM = "custom";
  private static final Set<String> THOUGHTS = Set.of("thinking", "reasoning", "redacted_thinking");
  private static final List<String> FIELDS =
      List.of("role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content");
  private static final Set<String> FIELDS_NOT_SERVED =
      Set.of("annotations", "audio", "function_call", "refusal");

  private final Form form;
  private final boolean strict;
  private final int maxParts;
  private final ContentParts parts;
  private final Consumer<JsonObject> seen;
  private int read;

  /** The id of the last call in the older form; the result of such a call does not name it. */
  private String functionCall;

  /** A reader that needs no action for each part. */
  public MessageReader(Form form, ContentParts parts) {
    this(form, parts, part -> {});
  }

  /**
   * @param parts reads parts that are not plain text
   * @param seen receives each part of a content
   */
  public MessageReader(Form form, ContentParts parts, Consumer<JsonObject> seen) {
    this.form = form;
    this.strict = form == Form.EVENT;
    this.maxParts = strict ? MAX_PARTS_OF_EVENT : MAX_PARTS;
    this.parts = parts;
    this.seen = seen;
  }

  /** Returns the role, by its name in events. The sender gets a notice for an unusual role. */
  public String role(JsonObject message) {
    String named = Roles.of(message);
    String role = form.renamed.getOrDefault(named, named);
    if (form.usual != null && !form.usual.contains(role)) {
      parts.leaveOut(message.path("role") + "=" + Texts.quote(role));
    }
    return role;
  }

  /** Reads a message of an event or a chat. Its content is empty if a chat does not give it. */
  public Message message(JsonObject message) {
    read++;
    if (strict) {
      refuse(message);
    }
    String role = role(message);
    only("assistant", role, message, "tool_calls");
    only("tool", role, message, "tool_call_id");
    if (strict) {
      only("assistant", role, message, "reasoning_content");
    }
    List<ToolCall> calls = calls(message, role);
    if (strict && calls.isEmpty()) {
      message.require("content");
    }
    String content = text(message, "content", role.equals("tool"));
    boolean none = strict ? !message.has("content") : content.isEmpty() && !calls.isEmpty();
    String speaker = strict ? message.id("name") : message.name("name");
    boolean unnamed = message.text("role").equals("function");
    return new Message(
        role,
        none ? null : content,
        speaker == null || speaker.isEmpty() ? null : speaker,
        calls,
        unnamed && !strict ? functionCall : message.id("tool_call_id"),
        role.equals("assistant") ? reasoning(message) : null);
  }

  private static void refuse(JsonObject message) {
    for (String name : message.names()) {
      if (FIELDS_NOT_SERVED.contains(name)) {
        throw new InvalidInputException(message.path(name) + " is not served yet");
      }
    }
    message.allow(FIELDS);
  }

  private void only(String role, String given, JsonObject message, String field) {
    JsonNode value = message.get(field);
    boolean nothing = value == null || !strict && value.isArray() && value.isEmpty();
    if (!nothing && !given.equals(role)) {
      throw new InvalidInputException(
          "%s is given, which only a message of role \"%s\" may have"
              .formatted(message.path(field), role));
    }
  }

  private List<ToolCall> calls(JsonObject message, String role) {
    List<ToolCall> calls = new ArrayList<>();
    for (JsonObject call : message.objects("tool_calls", "calls", MAX_CALLS)) {
      if (strict) {
        call.allow(List.of("id", "type", "function")).require("id", "function");
      }
      String id = call.has("id") ? call.id("id") : "call_" + read + "_" + calls.size();
      String type = call.has("type") ? call.text("type") : "function";
      if (type.equals(CUSTOM) && !strict && call.has(CUSTOM)) {
        JsonObject custom = call.object(CUSTOM).require("name");
        JsonNode input = custom.get("input");
        calls.add(
            new ToolCall(
                id, custom.id("name"), input("input", input == null ? "" : input.asText())));
      } else if (type.equals("function")) {
        calls.add(call(id, call.require("function").object("function")));
      } else {
        throw JsonObject.notOneOf(call.path("type"), type, List.of("function"));
      }
    }
    boolean older = !strict && role.equals("assistant") && message.has("function_call");
    if (older && calls.isEmpty()) {
      functionCall = "call_" + read;
      calls.add(call(functionCall, message.object("function_call")));
    }
    return calls;
  }

  private ToolCall call(String id, JsonObject function) {
    if (strict) {
      function.allow(List.of("name", "arguments")).require("name", "arguments").text("arguments");
    }
    String name = function.require("name").id("name");
    return new ToolCall(id, name, ContentParts.arguments(function.get("arguments")));
  }

  /** Returns arguments whose only parameter is a text. */
  public static String input(String name, String text) {
    ObjectNode arguments = JsonNodeFactory.instance.objectNode();
    return arguments.put(name, Texts.wellFormed(text)).toString();
  }

  /** Returns the assistant's reasoning, which clients send under several names. */
  private String reasoning(JsonObject message) {
    String field = strict || message.has("reasoning_content") ? "reasoning_content" : "reasoning";
    if (message.has(field)) {
      String text = message.text(field);
      return text.isEmpty() && !strict ? null : Texts.wellFormed(text);
    }
    StringBuilder thought = new StringBuilder();
    if (!strict && message.has("content") && message.get("content").isArray()) {
      for (JsonObject part : message.objects("content", form.parts, maxParts)) {
        JsonNode said = part.get(part.has("thinking") ? "thinking" : "text");
        boolean thinks = THOUGHTS.contains(part.text("type"));
        thought.append(thinks && said != null && said.isTextual() ? said.textValue() : "");
      }
    }
    return thought.isEmpty() ? null : Texts.wellFormed(thought.toString());
  }

  /**
   * Returns a text, or the joined texts of parts; empty if the field is not given.
   *
   * @param result whether the text is the result of a tool, which may be a single part
   */
  public String text(JsonObject holder, String field, boolean result) {
    JsonNode value = holder.get(field);
    if (value == null) {
      return "";
    }
    if (value.isTextual()) {
      return Texts.wellFormed(value.textValue());
    }
    if (form == Form.ITEMS && result && value.isObject()) {
      return Texts.wellFormed(part(holder.object(field), true));
    }
    if (!value.isArray()) {
      throw JsonObject.wrongType(
          holder.path(field), value, "a string or an array of " + form.parts);
    }
    if (strict && value.isEmpty()) {
      throw new InvalidInputException(
          holder.path(field) + " is empty; it must have 1 to " + maxParts + " parts");
    }
    if (form == Form.CHAT) {
      wrapTexts((ArrayNode) value);
    }
    List<JsonObject> given = holder.objects(field, form.parts, maxParts);
    return joined(given.stream().map(part -> part(part, result)).toList(), form.between);
  }

  /** Makes parts of plain texts, as vLLM does. */
  private static void wrapTexts(ArrayNode parts) {
    for (int i = 0; i < parts.size(); i++) {
      if (parts.get(i).isTextual()) {
        ObjectNode part = parts.objectNode().put("type", "text");
        parts.set(i, part.set("text", parts.get(i)));
      }
    }
  }

  /** Joins the texts that are not empty. */
  public static String joined(List<String> texts, String between) {
    return Texts.wellFormed(
        texts.stream().filter(text -> !text.isEmpty()).collect(Collectors.joining(between)));
  }

  /** Returns the text of a part, or the note that replaces it. */
  public String part(JsonObject part, boolean result) {
    seen.accept(part);
    if (strict) {
      return strictPart(part);
    }
    if (form == Form.CHAT) {
      String type = part.require("type").text("type");
      if (THOUGHTS.contains(type) || type.equals("text") && !part.has("text")) {
        return "";
      }
    }
    String text = result ? parts.ofResult(part) : parts.ofMessage(part);
    return form == Form.ITEMS ? text : withoutBilling(text);
  }

  private static String strictPart(JsonObject part) {
    String type = part.require("type").text("type");
    if (ContentParts.isUnreadable(type)) {
      return ContentParts.note(type);
    }
    if (!type.equals("text")) {
      throw new InvalidInputException(
          part.path("type") + " is " + Texts.quote(type) + ", which is not a type of content part");
    }
    return part.allow(List.of("type", "text")).require("text").text("text");
  }

  /** Returns a text; an empty text if it is the one that changes with each request. */
  public static String withoutBilling(String text) {
    return text.startsWith(BILLING) ? "" : text;
  }
}
