package io.radixflow.text.template;

import io.radixflow.text.template.MessageForm.Arguments;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Converts messages to the form that chat templates read: maps with the names of the OpenAI API,
 * and values in the template's form.
 */
record TemplateMessages(MessageForm form) {
  /** Templates must not read more than 100 levels of nested input. */
  private static final int DEEPEST_ARGUMENTS = 90;

  private static final int SHORT_ID = 9;

  private static final Set<String> ROLES =
      Set.of("system", "developer", "user", "assistant", "tool");

  /** Returns whether every template that needs this role knows it. */
  static boolean isKnown(String role) {
    return ROLES.contains(role);
  }

  /** Returns the fields of each message. */
  List<Map<String, Object>> of(List<Message> messages) {
    List<Message> shown =
        switch (form.repair()) {
          case NONE -> messages;
          case ROLES -> MessageRepair.roles(messages);
          case PLAIN -> MessageRepair.plain(messages);
        };
    return shown.stream().map(this::fields).toList();
  }

  /**
   * Returns the fields of a message. Only {@code content} is always present; other fields are
   * missing if the message does not have them.
   */
  private Map<String, Object> fields(Message message) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("role", role(message.role()));
    fields.put("content", content(message));
    if (message.name() != null) {
      fields.put("name", message.name());
    }
    if (message.reasoning() != null) {
      fields.put("reasoning_content", message.reasoning());
    }
    if (!message.toolCalls().isEmpty()) {
      fields.put("tool_calls", message.toolCalls().stream().map(this::fields).toList());
    }
    if (message.toolCallId() != null) {
      fields.put("tool_call_id", id(message.toolCallId()));
    }
    return fields;
  }

  private String role(String given) {
    if (given.equals("developer")) {
      return form.developer() ? given : "system";
    }
    return form.anyRole() || isKnown(given) ? given : "user";
  }

  private Object content(Message message) {
    String text = message.content() == null ? "" : message.content();
    if (text.isEmpty() && !form.emptyText() && !message.toolCalls().isEmpty()) {
      return null;
    }
    if (!form.parts()) {
      return text;
    }
    List<Object> parts = new ArrayList<>();
    if (!text.isEmpty()) {
      Map<String, Object> part = new LinkedHashMap<>();
      part.put("type", "text");
      part.put("text", text);
      parts.add(part);
    }
    return parts;
  }

  private Map<String, Object> fields(ToolCall call) {
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", call.name());
    function.put("arguments", arguments(call.arguments()));
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", id(call.id()));
    fields.put("type", "function");
    fields.put("function", function);
    return fields;
  }

  /** Returns the arguments in the template's form; an empty object if there are none. */
  private Object arguments(String given) {
    boolean nothing = given == null || given.isBlank() || given.strip().equals("null");
    String text = nothing ? "{}" : given;
    if (form.arguments() == Arguments.TEXT) {
      return text;
    }
    Object value = JsonValues.likePython(text);
    boolean usable = value != null && isShallow(value, DEEPEST_ARGUMENTS);
    if (form.arguments() == Arguments.OBJECT && !(usable && value instanceof Map)) {
      return Map.of();
    }
    return usable ? value : text;
  }

  private static boolean isShallow(Object value, int depth) {
    if (value instanceof Map<?, ?> map) {
      return depth > 0 && map.values().stream().allMatch(item -> isShallow(item, depth - 1));
    }
    return !(value instanceof List<?> list)
        || depth > 0 && list.stream().allMatch(item -> isShallow(item, depth - 1));
  }

  /** Returns the id; in short form, its last nine letters and digits. */
  private String id(String id) {
    if (!form.shortIds() || id == null) {
      return id;
    }
    String padded = "0".repeat(SHORT_ID) + id.replaceAll("[^a-zA-Z0-9]", "");
    return padded.substring(padded.length() - SHORT_ID);
  }
}
