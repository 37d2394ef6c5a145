package io.radixflow.operators.session;

import io.radixflow.engine.cache.key.StableHash;
import io.radixflow.text.template.JsonValues;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;

/**
 * Hashes of conversations. A hash is the first 128 bits, in hexadecimal digits, of a SHA-256 over
 * the hash of the earlier messages and the last message. So each beginning of a conversation has
 * its own hash, however its messages are divided into turns.
 *
 * <p>Messages are hashed in a canonical form, because clients change white space when they send a
 * conversation again. Line ends are line feeds, and white space around the text is left out. The
 * arguments of calls are compared as JSON values, a missing text is an empty one, and {@code
 * developer} is {@code system}. Reasoning is left out, because most clients do not send it again.
 */
public final class ConversationHash {
  /** The hash of a conversation without messages. */
  public static final String EMPTY = "0".repeat(32);

  private ConversationHash() {}

  /**
   * Returns the hash of a conversation that consists of a system prompt, or of nothing for null.
   */
  public static String of(String system) {
    return system == null ? EMPTY : with(EMPTY, new Message("system", system));
  }

  /** Returns the hash of a conversation with one more message; null if {@code before} is null. */
  public static String with(String before, Message message) {
    return before == null
        ? null
        : StableHash.hex(parts(before, message)).substring(0, EMPTY.length());
  }

  /**
   * Returns the parts to hash: role and text of a message, then its other fields, each with its
   * name.
   */
  private static String[] parts(String before, Message message) {
    List<String> parts = new ArrayList<>();
    parts.add(before);
    parts.add(message.instructs() ? "system" : message.role());
    parts.add(message.content() == null ? "" : canonical(message.content()));
    if (message.name() != null) {
      parts.addAll(List.of("name", message.name()));
    }
    if (message.toolCallId() != null) {
      parts.addAll(List.of("tool_call_id", message.toolCallId()));
    }
    for (ToolCall call : message.toolCalls()) {
      String arguments = JsonValues.canonical(call.arguments());
      parts.addAll(List.of("tool_call", call.id(), call.name(), arguments));
    }
    return parts.toArray(String[]::new);
  }

  /** Returns the hash of a conversation with more messages; null if {@code before} is null. */
  public static String with(String before, List<Message> messages) {
    String hash = before;
    for (Message message : messages) {
      hash = with(hash, message);
    }
    return hash;
  }

  /** Returns a text in canonical form: texts that count as the same have the same form. */
  public static String canonical(String content) {
    int start = 0;
    int end = content.length();
    while (start < end && isSpace(content.charAt(start))) {
      start++;
    }
    while (start < end && isSpace(content.charAt(end - 1))) {
      end--;
    }
    return content.substring(start, end).replace("\r\n", "\n").replace('\r', '\n');
  }

  /** Returns whether any client may treat a character as white space. */
  private static boolean isSpace(char c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c) || c == '\u0085' || c == '\ufeff';
  }
}
