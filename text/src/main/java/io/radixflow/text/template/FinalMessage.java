package io.radixflow.text.template;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The last message of a conversation, which the model will continue. A tag after its content shows
 * where the rendered text must end.
 */
final class FinalMessage {
  private static final String TAG = "CONTINUE_FINAL_MESSAGE_TAG ";

  private final String content;

  private FinalMessage(String content) {
    this.content = content;
  }

  /**
   * Puts the tag after the content of the last message.
   *
   * @throws ChatTemplateException if the last message has no text, or the template does not use the
   *     content
   */
  static FinalMessage mark(List<Object> messages, String template) {
    int last = messages.size() - 1;
    if (last < 0 || !(messages.get(last) instanceof Map<?, ?> fields)) {
      throw failure("the conversation has no message");
    }
    if (!template.contains("content")) {
      throw failure("the chat template does not use the content");
    }
    Map<Object, Object> marked = new LinkedHashMap<>(fields);
    String text = null;
    if (fields.get("content") instanceof String content) {
      text = content;
      marked.put("content", content + TAG);
    } else if (fields.get("content") instanceof List<?> parts) {
      List<Object> changed = new ArrayList<>(parts);
      text = markPart(changed);
      marked.put("content", changed);
    }
    if (text == null) {
      throw failure("the last message has no text");
    }
    messages.set(last, marked);
    return new FinalMessage(text);
  }

  private static String markPart(List<Object> parts) {
    for (int i = parts.size() - 1; i >= 0; i--) {
      if (parts.get(i) instanceof Map<?, ?> part && part.get("text") instanceof String text) {
        Map<Object, Object> marked = new LinkedHashMap<>(part);
        marked.put("text", text + TAG);
        parts.set(i, marked);
        return text;
      }
    }
    return null;
  }

  /** Returns the rendered text up to the tag. */
  String cut(String rendered) {
    int at = rendered.lastIndexOf(TAG.strip());
    if (at < 0 || !rendered.contains(content.strip())) {
      throw failure("the chat template does not show the last message's content");
    }
    String text = rendered.substring(0, at);
    return rendered.startsWith(TAG, at) ? text : text.stripTrailing();
  }

  private static ChatTemplateException failure(String reason) {
    return new ChatTemplateException("the last message cannot be continued: " + reason);
  }
}
