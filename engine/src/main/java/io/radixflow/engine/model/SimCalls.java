package io.radixflow.engine.model;

import io.radixflow.text.SimTokenizer;
import java.nio.charset.StandardCharsets;

/**
 * The replies of a simulated model that calls tools on request. If the user writes {@code call NAME
 * ARGUMENTS}, one call per line, the model answers with these calls. A line {@code then} separates
 * the calls of one reply from the calls of the next reply, which follows the results. After the
 * last calls the model answers with the last result. Text before the first call is ignored. Any
 * other message gets the ordinary simulated reply.
 */
final class SimCalls {
  private static final byte[] OPENING = "assistant\n".getBytes(StandardCharsets.UTF_8);
  private static final String CALL = "call ";

  private SimCalls() {}

  /**
   * Returns the token that continues a conversation, or -1 for an ordinary reply.
   *
   * @param tokens all tokens so far
   */
  static int next(int[] tokens) {
    int start = tokens.length - 1;
    while (start >= 0 && tokens[start] != SimTokenizer.START) {
      start--;
    }
    int reply = start + 1 + OPENING.length;
    if (start < 1 || reply > tokens.length) {
      return -1;
    }
    for (int i = 0; i < OPENING.length; i++) {
      if (tokens[start + 1 + i] != OPENING[i]) {
        return -1;
      }
    }
    String answer = answer(tokens, start);
    if (answer == null) {
      return -1;
    }
    byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
    int at = tokens.length - reply;
    return at < bytes.length ? bytes[at] & 0xff : at == bytes.length ? SimTokenizer.END : -1;
  }

  /** Returns the reply to the messages before a position, or null for an ordinary reply. */
  private static String answer(int[] tokens, int end) {
    String result = null;
    int replies = 0;
    for (int to = end; to > 0; to = lastStart(tokens, to)) {
      String message = message(tokens, to);
      String content = message.substring(message.indexOf('\n') + 1);
      if (message.startsWith("user\n")) {
        String calls = calls(content, replies);
        return calls == null && result != null ? "It is " + result + "." : calls;
      } else if (message.startsWith("tool\n")) {
        result = result == null ? content : result;
      } else if (message.startsWith("assistant\n")) {
        if (result == null) {
          return null;
        }
        replies++;
      }
    }
    return result == null ? null : "It is " + result + ".";
  }

  private static int lastStart(int[] tokens, int end) {
    int start = end - 1;
    while (start > 0 && tokens[start] != SimTokenizer.START) {
      start--;
    }
    return start;
  }

  private static String message(int[] tokens, int end) {
    int from = end - 1;
    while (from >= 0 && tokens[from] != SimTokenizer.START) {
      from--;
    }
    int to = end;
    while (to > from && tokens[to] != SimTokenizer.END) {
      to--;
    }
    byte[] text = new byte[Math.max(0, to - from - 1)];
    for (int i = 0; i < text.length; i++) {
      text[i] = (byte) tokens[from + 1 + i];
    }
    return new String(text, StandardCharsets.UTF_8);
  }

  /** Returns the calls that a user wants in a reply, or null if the user wants none. */
  private static String calls(String content, int reply) {
    int first = content.startsWith(CALL) ? 0 : content.indexOf("\n" + CALL) + 1;
    if (first == 0 && !content.startsWith(CALL)) {
      return null;
    }
    String[] replies = content.substring(first).split("\nthen\n");
    return reply < replies.length ? calls(replies[reply]) : null;
  }

  private static String calls(String lines) {
    StringBuilder reply = new StringBuilder();
    for (String call : lines.split("\n")) {
      String[] words = call.split(" ", 3);
      if (call.startsWith(CALL) && words.length == 3) {
        reply
            .append(reply.isEmpty() ? "" : "\n")
            .append("<tool_call>\n{\"name\": \"")
            .append(words[1])
            .append("\", \"arguments\": ")
            .append(words[2])
            .append("}\n</tool_call>");
      } else {
        reply.append(call).append('\n');
      }
    }
    return reply.toString();
  }
}
