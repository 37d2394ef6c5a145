package io.radixflow.operators.record;

import java.util.List;

/**
 * A message as a sender gave it, or a reply as it was given; a Flink POJO.
 *
 * @param role {@code system}, {@code user}, {@code assistant} or {@code tool}; {@link #PROMPT} of a
 *     text that is a prompt as it is
 * @param content plain text, content parts joined
 */
public record Message(String role, String content) {
  /** The role of a text that no chat template is applied to; it is a turn's only message. */
  public static final String PROMPT = "prompt";

  /** Returns the text that is a turn's prompt as it is; null if the turn has messages. */
  public static String prompt(List<Message> messages) {
    return messages != null && messages.size() == 1 && messages.get(0).role().equals(PROMPT)
        ? messages.get(0).content()
        : null;
  }
}
