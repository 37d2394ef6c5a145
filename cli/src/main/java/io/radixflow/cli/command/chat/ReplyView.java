package io.radixflow.cli.command.chat;

import io.radixflow.client.ReplyListener;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.io.PrintWriter;
import java.util.concurrent.CompletableFuture;

/** Shows one reply as it grows; called on the client's threads. */
public final class ReplyView implements ReplyListener {
  private final PrintWriter out;
  private final long start = System.nanoTime();
  private final CompletableFuture<ChatTurnEnd> end = new CompletableFuture<>();
  private final StringBuilder shown = new StringBuilder();
  private volatile long firstNanos;
  private volatile long endNanos;

  public ReplyView(PrintWriter out) {
    this.out = out;
  }

  @Override
  public void text(String piece) {
    if (shown.length() == 0) {
      firstNanos = System.nanoTime() - start;
    }
    shown.append(piece);
    out.print(piece);
    out.flush();
  }

  @Override
  public void part(ReplyDelta.Kind kind, int index, String id, String piece) {
    text(piece);
  }

  @Override
  public void restarted(int codePoints) {
    shown.setLength(shown.offsetByCodePoints(0, codePoints));
    out.println();
    out.println("[the reply was begun again and reads differently:]");
    out.print(shown);
    out.flush();
  }

  @Override
  public void finished(ReplyDelta last) {
    ended(ChatTurnEnd.of(last));
  }

  @Override
  public void committed(Reply reply) {
    ended(ChatTurnEnd.of(reply));
  }

  private void ended(ChatTurnEnd how) {
    if (!end.isDone()) {
      endNanos = System.nanoTime() - start;
      end.complete(how);
    }
  }

  /** Returns a future that completes with the text, or fails if the text will never be complete. */
  public CompletableFuture<ChatTurnEnd> end() {
    return end;
  }

  String text() {
    return shown.toString();
  }

  /** Returns the time to the first piece of text; 0 if there was none. */
  public long firstNanos() {
    return firstNanos;
  }

  long endNanos() {
    return endNanos;
  }
}
