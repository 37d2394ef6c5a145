package io.radixflow.kernels.text.template;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Messages as chat templates read them: maps with the names of the OpenAI API. */
final class TemplateMessages {

  private TemplateMessages() {}

  /**
   * Returns the fields of a message; those that it does not have are missing, but for content.
   *
   * @param knowsDeveloper whether the template has the role {@code developer}; for others it is
   *     {@code system}
   */
  static Map<String, Object> fields(ChatMessage message, boolean knowsDeveloper) {
    Map<String, Object> fields = new LinkedHashMap<>();
    boolean renamed = !knowsDeveloper && message.role().equals("developer");
    fields.put("role", renamed ? "system" : message.role());
    fields.put("content", message.content());
    if (message.name() != null) {
      fields.put("name", message.name());
    }
    if (message.reasoning() != null) {
      fields.put("reasoning_content", message.reasoning());
    }
    if (!message.toolCalls().isEmpty()) {
      List<Map<String, Object>> calls = new ArrayList<>();
      message.toolCalls().forEach(call -> calls.add(fields(call)));
      fields.put("tool_calls", calls);
    }
    if (message.toolCallId() != null) {
      fields.put("tool_call_id", message.toolCallId());
    }
    return fields;
  }

  private static Map<String, Object> fields(ToolCall call) {
    Map<String, Object> arguments = JsonValues.object(call.arguments());
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", call.name());
    function.put("arguments", arguments == null ? call.arguments() : arguments);
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", call.id());
    fields.put("type", "function");
    fields.put("function", function);
    return fields;
  }
}
