package io.radixflow.engine.model;

import java.nio.charset.StandardCharsets;

/**
 * The replies of a simulated model that calls tools on request. If the user writes {@code call NAME
 * ARGUMENTS}, one call per line, it answers with these calls; to their results it answers with the
 * last result. Text before the first of these lines is ignored. Any other message gets the ordinary
 * simulated reply.
 */
final class SimCalls {
  private static final byte[] OPENING = "assistant\n".getBytes(StandardCharsets.UTF_8);
  private static final String CALL = "call ";

  private SimCalls() {}

  /**
   * Returns the token that continues a conversation, or -1 if that is not laid down here.
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
    String answer = answer(lastMessage(tokens, start));
    if (answer == null) {
      return -1;
    }
    byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
    int at = tokens.length - reply;
    return at < bytes.length ? bytes[at] & 0xff : at == bytes.length ? SimTokenizer.END : -1;
  }

  /** Returns role and content of the message before a position; system messages are skipped. */
  private static String lastMessage(int[] tokens, int end) {
    String message = message(tokens, end);
    int from = end;
    while (message.startsWith("system\n") && from > 0) {
      from--;
      while (from > 0 && tokens[from] != SimTokenizer.START) {
        from--;
      }
      message = message(tokens, from);
    }
    return message;
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

  private static String answer(String message) {
    int line = message.indexOf('\n');
    String role = line < 0 ? "" : message.substring(0, line);
    String content = message.substring(line + 1);
    if (role.equals("tool")) {
      return "It is " + content + ".";
    }
    int first = content.startsWith(CALL) ? 0 : content.indexOf("\n" + CALL) + 1;
    if (!role.equals("user") || first == 0 && !content.startsWith(CALL)) {
      return null;
    }
    StringBuilder reply = new StringBuilder();
    for (String call : content.substring(first).split("\n")) {
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
