package io.radixflow.operators.session;

import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Origin;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Map;

/**
 * An accepted event whose reply is still to come; in keyed state from acceptance until the mail
 * that emits its reply. A Flink POJO.
 *
 * @param id number within the session; orders turns
 * @param kind {@code MESSAGE}, {@code REGENERATE}, {@code APPEND} or {@code FORK}
 * @param branch the turn's branch; for a fork, the branch to fork from
 * @param turn the sender's turn id, or null
 * @param messages the new turn's messages; empty if the kind has none
 * @param options the turn's generation options, or null
 * @param newBranch the branch that a fork makes, or null
 * @param atTurn see {@link ConversationEvent#atTurn}
 * @param origin where the event was read, or null
 * @param accepted when the event was accepted, milliseconds since the epoch
 * @param metadata the event's metadata, or null
 * @param cache the event's cache hints, or null
 * @param after number of the turn that it follows, {@link Turn#ROOT} for none; {@link #LATEST} for
 *     the latest of its branch. If the branch does not exist when the event is accepted, the branch
 *     is made after that turn has ended.
 * @param whole whether the messages are a whole conversation. The turn {@code after} may be part of
 *     it, so the parent of this turn is decided after that turn has ended
 */
public record PendingTurn(
    long id,
    EventKind kind,
    String branch,
    String turn,
    List<Message> messages,
    GenerationOptions options,
    String newBranch,
    String atTurn,
    Origin origin,
    long accepted,
    Map<String, String> metadata,
    CacheHints cache,
    long after,
    boolean whole) {

  /** Means the latest turn of the branch at the time when this turn runs. */
  public static final long LATEST = -1;

  /** Returns this turn with its parent and its new messages, after both were decided. */
  public PendingTurn following(long turn, List<Message> added) {
    return new PendingTurn(
        id, kind, branch, this.turn, added, options, newBranch, atTurn, origin, accepted, metadata,
        cache, turn, false);
  }

  /** Returns this turn, still without a parent, if it may follow another turn. */
  public PendingTurn waitingFor(long other) {
    return new PendingTurn(
        id, kind, branch, turn, messages, options, newBranch, atTurn, origin, accepted, metadata,
        cache, other, true);
  }

  /** Returns the branch in whose queue the turn is. A fork is the first turn of its new branch. */
  public String queue() {
    return kind == EventKind.FORK ? newBranch : branch;
  }
}
