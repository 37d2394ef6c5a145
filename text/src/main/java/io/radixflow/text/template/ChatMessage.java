package io.radixflow.text.template;

import java.util.List;

/**
 * One message of a conversation, as a chat template sees it.
 *
 * @param role {@code system}, {@code developer}, {@code user}, {@code assistant} or {@code tool}
 * @param content plain text; null if the message has none, as one that only calls tools
 * @param name the author's or the tool's name, or null
 * @param toolCalls the assistant's calls in their order; empty for none
 * @param toolCallId the call that a tool's message answers, or null
 * @param reasoning what the assistant thought before it answered, or null
 */
public record ChatMessage(
    String role,
    String content,
    String name,
    List<TemplateCall> toolCalls,
    String toolCallId,
    String reasoning) {

  public ChatMessage {
    toolCalls = toolCalls == null ? List.of() : List.copyOf(toolCalls);
  }

  /** Makes a message of plain text. */
  public ChatMessage(String role, String content) {
    this(role, content, null, List.of(), null, null);
  }
}
