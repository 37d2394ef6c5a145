package io.radixflow.cli.command.chat;

import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Errors;
import io.radixflow.protocol.record.Reply;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;

/**
 * User messages from a file, one per line. They are sent one after another; an empty line begins a
 * new session.
 */
final class ChatScript {
  private static final long TIMEOUT_MINUTES = 10;

  private final List<List<String>> sessions;
  private int failures;

  private ChatScript(List<List<String>> sessions) {
    this.sessions = sessions;
  }

  /** Reads a script; it must have at least one message. */
  static ChatScript read(Path file) throws IOException {
    List<List<String>> sessions = new ArrayList<>();
    List<String> current = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      if (!line.isBlank()) {
        current.add(line);
      } else if (!current.isEmpty()) {
        sessions.add(current);
        current = new ArrayList<>();
      }
    }
    if (!current.isEmpty()) {
      sessions.add(current);
    }
    CliException.throwIf(sessions.isEmpty(), file + " has no message");
    return new ChatScript(sessions);
  }

  /**
   * Sends all messages and prints the transcript; each committed reply must equal its deltas.
   *
   * @param open opens a session; numbers start at 1
   * @return the exit code: 1 if a turn has no reply, or a committed reply that differs from its
   *     deltas
   */
  int run(IntFunction<ChatSession> open, PrintWriter out) throws InterruptedException {
    for (int i = 0; i < sessions.size(); i++) {
      out.println((i == 0 ? "" : "\n") + "session " + (i + 1));
      ChatSession session = open.apply(i + 1);
      for (String message : sessions.get(i)) {
        turn(session, message, out);
      }
    }
    return failures == 0 ? 0 : 1;
  }

  private void turn(ChatSession session, String message, PrintWriter out)
      throws InterruptedException {
    out.println("> " + message);
    out.flush();
    ReplyView view = new ReplyView(out);
    Reply reply = await(session.ask(message, view));
    ChatTurnEnd end = ChatTurnEnd.of(reply);
    out.println();
    out.println("[" + end.line() + "]");
    if (end.failed()) {
      failures++;
    } else if (!view.text().equals(reply.text())) {
      failures++;
      out.println("[the committed reply differs: " + reply.text() + "]");
    }
    out.flush();
  }

  private static Reply await(CompletableFuture<Reply> reply) throws InterruptedException {
    try {
      return reply.get(TIMEOUT_MINUTES, TimeUnit.MINUTES);
    } catch (TimeoutException e) {
      throw new CliException("no reply within " + TIMEOUT_MINUTES + " minutes", e);
    } catch (CancellationException e) {
      throw new CliException("the connection was closed", e);
    } catch (ExecutionException e) {
      throw new CliException("no reply: " + Errors.line(e.getCause()), e);
    }
  }
}
