package io.radixflow.lab.traffic;

import io.radixflow.client.ReplyListener;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.util.concurrent.CompletableFuture;

/** A reply of a job, the number of its pieces and the time of the first piece. Thread-safe. */
public final class KafkaReply implements ReplyListener {
  private final long start = System.nanoTime();
  private final CompletableFuture<KafkaReply> committed = new CompletableFuture<>();
  private final CompletableFuture<ReplyDelta> finished = new CompletableFuture<>();
  private volatile long firstNanos;
  private volatile int pieces;
  private volatile Reply reply;

  KafkaReply() {
    committed.whenComplete(
        (done, failure) -> {
          if (failure != null) {
            finished.completeExceptionally(failure);
          }
        });
  }

  /** Returns a future that completes when the reply is committed, at the next checkpoint. */
  public CompletableFuture<KafkaReply> committed() {
    return committed;
  }

  /** Returns a future that completes when the last delta has come. */
  public CompletableFuture<ReplyDelta> finished() {
    return finished;
  }

  public Reply reply() {
    return reply;
  }

  /** Returns the number of pieces of content so far. */
  public int pieces() {
    return pieces;
  }

  /** Returns when the first piece came, by {@link System#nanoTime}. */
  public long firstNanos() {
    return firstNanos;
  }

  /** Returns the seconds to the first piece. */
  public double firstSeconds() {
    return (firstNanos - start) * 1e-9;
  }

  @Override
  public void text(String piece) {
    if (pieces++ == 0) {
      firstNanos = System.nanoTime();
    }
  }

  @Override
  public void part(ReplyDelta.Kind kind, int index, String id, String piece) {
    text(piece);
  }

  @Override
  public void finished(ReplyDelta last) {
    finished.complete(last);
  }

  void commit(Reply whole) {
    reply = whole;
    committed.complete(this);
  }
}
