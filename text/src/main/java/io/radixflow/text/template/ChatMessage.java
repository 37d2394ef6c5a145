package io.radixflow.text.template;

import java.util.List;

/**
 * One message of a conversation, as a chat template sees it.
 *
 * @param role {@code system}, {@code developer}, {@code user}, {@code assistant} or {@code tool}
 * @param content plain text; null if the message has none, for example if it only calls tools
 * @param name name of the author or the tool, or null
 * @param toolCalls the assistant's calls in order; empty for none
 * @param toolCallId id of the call that a tool's message answers, or null
 * @param reasoning the assistant's reasoning before the answer, or null
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

  /** Creates a message of plain text. */
  public ChatMessage(String role, String content) {
    this(role, content, null, List.of(), null, null);
  }
}
