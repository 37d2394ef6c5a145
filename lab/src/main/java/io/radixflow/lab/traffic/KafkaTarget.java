package io.radixflow.lab.traffic;

import io.radixflow.client.ConversationClient;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** A job that gets its events through Kafka. Cancels have no reply. */
public final class KafkaTarget implements Target<ConversationEvent, KafkaReply> {
  private static final Executor LATER = CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS);

  private final ConversationClient client;
  private final boolean resends;
  private volatile boolean closed;

  /**
   * @param client stays open when this is closed
   * @param resends whether an event that could not be sent is sent again, after a second
   */
  public KafkaTarget(ConversationClient client, boolean resends) {
    this.client = client;
    this.resends = resends;
  }

  @Override
  public CompletableFuture<KafkaReply> send(ConversationEvent event) {
    return ask(event).committed();
  }

  /** Sends an event, and returns its reply while it grows. */
  public KafkaReply ask(ConversationEvent event) {
    KafkaReply reply = new KafkaReply();
    ask(event, reply);
    return reply;
  }

  private void ask(ConversationEvent event, KafkaReply reply) {
    CompletableFuture<Reply> whole =
        event.kind() == EventKind.CANCEL
            ? client.send(event).thenApply(sent -> null)
            : client.ask(event, reply);
    whole.whenComplete(
        (committed, failure) -> {
          if (failure == null) {
            reply.commit(committed);
          } else if (!resends) {
            reply.committed().completeExceptionally(failure);
          } else if (!closed) {
            LATER.execute(() -> ask(event, reply));
          }
        });
  }

  @Override
  public void close() {
    closed = true;
  }
}
