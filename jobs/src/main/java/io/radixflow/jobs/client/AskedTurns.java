package io.radixflow.jobs.client;

import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The turns that were asked for and have no committed reply yet. Safe for many threads. */
public final class AskedTurns {

  private final Map<TurnKey, Asked> asked = new ConcurrentHashMap<>();
  private volatile Throwable failure;

  private record TurnKey(String session, String turn) {}

  private record Asked(ReplyAssembler assembler, CompletableFuture<Reply> reply) {}

  /**
   * Waits for an event's reply.
   *
   * @return the committed reply; already failed after {@link #fail(Throwable)}
   * @throws IllegalArgumentException if the turn is waited for already
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

  /** Shows what a delta adds to the turn that it belongs to, if that was asked for here. */
  void delta(ReplyDelta delta) {
    Asked turn = asked.get(new TurnKey(delta.session(), delta.turn()));
    if (turn != null) {
      turn.assembler().delta(delta);
    }
  }

  /** Ends the turn that the reply belongs to, if that was asked for here. */
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

  /** Ends all turns, those still to come too, without a reply. */
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
