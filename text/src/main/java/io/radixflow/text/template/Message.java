package io.radixflow.text.template;

import java.util.Arrays;
import java.util.List;

/**
 * A message of a sender, or a reply; a Flink POJO.
 *
 * @param role {@code system}, {@code developer}, {@code user}, {@code assistant} or {@code tool};
 *     {@link #PROMPT} for a raw text prompt, {@link #PROMPT_IDS} for a prompt of token ids
 * @param content plain text, content parts joined; null if the assistant only called tools
 * @param name name of the speaker, or of the function whose result this is; null if not given
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
  /** The role of a raw prompt without a chat template; it is a turn's only message. */
  public static final String PROMPT = "prompt";

  /** The role of a prompt of token ids; its content is a JSON array of the ids. */
  public static final String PROMPT_IDS = "prompt_token_ids";

  public Message {
    toolCalls = toolCalls == null ? List.of() : List.copyOf(toolCalls);
  }

  /** Creates a message that has only text. */
  public Message(String role, String content) {
    this(role, content, null, List.of(), null, null);
  }

  /** Returns a prompt of token ids. */
  public static Message ofIds(List<Integer> ids) {
    return new Message(PROMPT_IDS, ids.toString());
  }

  /** Returns whether a turn's prompt is a raw text or ids instead of messages. */
  public static boolean isPrompt(List<Message> messages) {
    return prompt(messages) != null || only(messages, PROMPT_IDS) != null;
  }

  /** Returns the raw text of a turn's prompt; null if the turn has none. */
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

  /** Returns whether the message is an instruction for the assistant. */
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
