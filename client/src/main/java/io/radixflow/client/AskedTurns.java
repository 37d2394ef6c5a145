package io.radixflow.client;

import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The requested turns that have no committed reply yet. Thread-safe. */
public final class AskedTurns {

  private final Map<TurnKey, Asked> asked = new ConcurrentHashMap<>();
  private volatile Throwable failure;

  private record TurnKey(String session, String turn) {}

  private record Asked(ReplyAssembler assembler, CompletableFuture<Reply> reply) {}

  /**
   * Waits for an event's reply.
   *
   * @return the committed reply; already failed after {@link #fail(Throwable)}
   * @throws IllegalArgumentException if a caller already waits for the turn
   */
  public CompletableFuture<Reply> add(ConversationEvent event, ReplyListener listener) {
    Asked turn = new Asked(new ReplyAssembler(listener), new CompletableFuture<>());
    if (asked.putIfAbsent(key(event), turn) != null) {
      throw new IllegalArgumentException("the turn " + event.turn() + " was asked for already");
    }
    Throwable before = failure;
    if (before != null) {
      fail(event, before);
    }
    return turn.reply();
  }

  /** Passes a delta to its turn, if the turn was requested here. */
  void delta(ReplyDelta delta) {
    Asked turn = asked.get(new TurnKey(delta.session(), delta.turn()));
    if (turn != null) {
      turn.assembler().delta(delta);
    }
  }

  /** Ends the turn of the reply, if the turn was requested here. */
  void reply(Reply reply) {
    Asked turn = asked.remove(new TurnKey(reply.session(), reply.turn()));
    if (turn == null) {
      return;
    }
    try {
      turn.assembler().reply(reply);
    } finally {
      turn.reply().complete(reply);
    }
  }

  /** Ends the event's turn without a reply. */
  void fail(ConversationEvent event, Throwable cause) {
    Asked turn = asked.remove(key(event));
    if (turn != null) {
      turn.reply().completeExceptionally(cause);
    }
  }

  /** Ends all turns without a reply, including turns that are added later. */
  void fail(Throwable cause) {
    failure = cause;
    drain(reply -> reply.completeExceptionally(cause));
  }

  /** Ends all turns as cancelled. */
  void cancel() {
    drain(reply -> reply.cancel(false));
  }

  private void drain(Consumer<CompletableFuture<Reply>> end) {
    for (TurnKey key : asked.keySet()) {
      Asked turn = asked.remove(key);
      if (turn != null) {
        end.accept(turn.reply());
      }
    }
  }

  private static TurnKey key(ConversationEvent event) {
    return new TurnKey(event.session(), event.turn());
  }
}
