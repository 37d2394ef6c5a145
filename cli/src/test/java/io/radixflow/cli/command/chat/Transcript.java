package io.radixflow.cli.command.chat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what {@code chat --script} prints. */
final class Transcript {
  private static final Pattern END =
      Pattern.compile("\\[cached/prompt (\\d+)/(\\d+) tokens, reply (\\d+), (\\w+).*]");

  private Transcript() {}

  /** One turn with its token counts. */
  record Turn(int session, String message, String reply, int cached, int prompt, int completion) {}

  static List<Turn> read(String transcript) {
    List<Turn> turns = new ArrayList<>();
    int session = 0;
    String message = null;
    StringBuilder reply = new StringBuilder();
    for (String line : transcript.lines().toList()) {
      Matcher end = END.matcher(line);
      if (line.startsWith("session ")) {
        session = Integer.parseInt(line.substring("session ".length()));
      } else if (line.startsWith("> ")) {
        message = line.substring(2);
        reply.setLength(0);
      } else if (end.matches()) {
        turns.add(
            new Turn(
                session,
                message,
                reply.toString().strip(),
                Integer.parseInt(end.group(1)),
                Integer.parseInt(end.group(2)),
                Integer.parseInt(end.group(3))));
      } else {
        reply.append(line).append('\n');
      }
    }
    return turns;
  }
}
