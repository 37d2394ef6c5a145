package io.radixflow.cli.command.chat;

import io.radixflow.cli.command.common.Errors;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jline.reader.EndOfFileException;
import org.jline.reader.UserInterruptException;

/** Reads lines and commands, and shows replies, until the user leaves. */
final class ChatRepl {
  private static final String HELP =
      """
      /new         begin another session
      /regenerate  make the latest reply again
      /stats       count tokens and time
      /help        show this
      /quit        leave; so do Ctrl-D, and Ctrl-C twice
      Ctrl-C       cancel the reply\
      """;

  private final ChatInput input;
  private final IntFunction<ChatSession> sessions;
  private final CompletableFuture<Void> end;
  private final PrintWriter out;
  private final ChatStats stats = new ChatStats();
  private ChatSession session;
  private int number;
  private boolean interrupted;
  private volatile boolean leaving;

  /**
   * @param sessions opens a session; numbers start at 1
   * @param end fails when no more replies will come; its message says what to do
   */
  ChatRepl(
      ChatInput input,
      IntFunction<ChatSession> sessions,
      CompletableFuture<Void> end,
      PrintWriter out) {
    this.input = input;
    this.sessions = sessions;
    this.end = end;
    this.out = out;
  }

  /**
   * Runs until the user leaves.
   *
   * @throws CompletionException if no more replies will come; its cause says what to do
   */
  void run() {
    end.exceptionally(
        failure -> {
          input.end();
          return null;
        });
    begin();
    while (!leaving) {
      out.flush();
      try {
        handle(input.readLine("> ").strip());
        interrupted = false;
      } catch (EndOfFileException e) {
        leaving = true;
      } catch (UserInterruptException e) {
        leaving = interrupted;
        interrupted = true;
        if (!leaving) {
          out.println("Ctrl-C again leaves.");
        }
      }
    }
    if (end.isCompletedExceptionally()) {
      end.join();
    }
  }

  private void begin() {
    session = sessions.apply(++number);
  }

  private void handle(String line) {
    switch (line) {
      case "" -> {}
      case "/new" -> {
        begin();
        out.println("Session " + number + ".");
      }
      case "/regenerate" -> {
        if (session.isFresh()) {
          out.println("No reply yet.");
        } else {
          show(view -> session.regenerate(view));
        }
      }
      case "/stats" -> out.println(stats.text());
      case "/help" -> out.println(HELP);
      case "/quit" -> leaving = true;
      default -> {
        if (line.startsWith("/")) {
          out.println(line.split("\\s", 2)[0] + " is not a command; /help lists the commands.");
        } else {
          show(view -> session.ask(line, view));
        }
      }
    }
  }

  /** Sends a turn and shows its whole reply. Ctrl-C cancels the reply; a second Ctrl-C leaves. */
  private void show(Consumer<ReplyView> send) {
    ReplyView view = new ReplyView(out);
    input.onInterrupt(
        new Runnable() {
          private boolean again;

          @Override
          public void run() {
            if (again) {
              leaving = true;
              view.end().cancel(false);
            } else {
              again = true;
              session.cancel();
            }
          }
        });
    try {
      send.accept(view);
      ChatTurnEnd end = view.end().join();
      stats.add(view, end);
      out.println();
      if (!end.finishReason().equals("stop")) {
        String why = end.error() == null ? "" : ": " + end.error();
        out.println("[" + end.finishReason().toLowerCase(Locale.ROOT) + why + "]");
      }
    } catch (CancellationException e) {
      out.println();
    } catch (CompletionException e) {
      out.println();
      if (!end.isCompletedExceptionally()) {
        out.println("[no reply: " + Errors.line(e.getCause()) + "]");
      }
    } finally {
      input.onInterrupt(null);
    }
  }
}
