package io.radixflow.protocol.record;

import java.util.Arrays;
import java.util.List;

/**
 * A message as a sender gave it, or a reply as it was given; a Flink POJO.
 *
 * @param role {@code system}, {@code developer}, {@code user}, {@code assistant} or {@code tool};
 *     {@link #PROMPT} of a text that is a prompt as it is, {@link #PROMPT_IDS} of ids that are
 * @param content plain text, content parts joined; null if the assistant only called tools
 * @param name of who speaks, or of the function whose result this is; null if not given
 * @param toolCalls calls by the assistant, in order; empty for none
 * @param toolCallId the call whose result this is, or null
 * @param reasoning what the assistant thought before it replied, or null
 */
public record Message(
    String role,
    String content,
    String name,
    List<ToolCall> toolCalls,
    String toolCallId,
    String reasoning) {
  /** The role of a text that no chat template is applied to; it is a turn's only message. */
  public static final String PROMPT = "prompt";

  /** The role of a prompt that is token ids: its content is a JSON array of them. */
  public static final String PROMPT_IDS = "prompt_token_ids";

  public Message {
    toolCalls = toolCalls == null ? List.of() : List.copyOf(toolCalls);
  }

  /** A message that is text alone. */
  public Message(String role, String content) {
    this(role, content, null, List.of(), null, null);
  }

  /** Returns a prompt that is token ids. */
  public static Message ofIds(List<Integer> ids) {
    return new Message(PROMPT_IDS, ids.toString());
  }

  /** Returns whether a turn's prompt is a text or ids as they are, and no messages. */
  public static boolean isPrompt(List<Message> messages) {
    return prompt(messages) != null || only(messages, PROMPT_IDS) != null;
  }

  /** Returns the text that is a turn's prompt as it is; null if the turn has none. */
  public static String prompt(List<Message> messages) {
    return only(messages, PROMPT);
  }

  /** Returns the ids that are a turn's prompt; null if the turn has none. */
  public static int[] promptIds(List<Message> messages) {
    String ids = only(messages, PROMPT_IDS);
    return ids == null ? null : ids(ids);
  }

  private static String only(List<Message> messages, String role) {
    return messages != null && messages.size() == 1 && messages.get(0).role().equals(role)
        ? messages.get(0).content()
        : null;
  }

  /** Returns the ids of a JSON array, as {@link #ofIds} writes it. */
  public static int[] ids(String array) {
    return Arrays.stream(array.substring(1, array.length() - 1).split(","))
        .mapToInt(id -> Integer.parseInt(id.strip()))
        .toArray();
  }

  /** Returns whether the message says how the assistant has to behave. */
  public boolean instructs() {
    return role.equals("system") || role.equals("developer");
  }

  /** Returns the number of characters of all its texts. */
  public long length() {
    long length = length(content) + length(name) + length(toolCallId) + length(reasoning);
    for (ToolCall call : toolCalls) {
      length += length(call.id()) + length(call.name()) + length(call.arguments());
    }
    return length;
  }

  private static long length(String text) {
    return text == null ? 0 : text.length();
  }
}
