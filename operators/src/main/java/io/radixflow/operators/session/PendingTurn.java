package io.radixflow.operators.session;

import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Message;
import io.radixflow.protocol.record.Origin;
import java.util.List;
import java.util.Map;

/**
 * An accepted event whose reply is still to come; in keyed state from acceptance until the mail
 * that emits its reply. A Flink POJO.
 *
 * @param id number within the session; orders turns
 * @param kind {@code MESSAGE}, {@code REGENERATE}, {@code APPEND} or {@code FORK}
 * @param branch the branch it works on; of a fork, the branch it forks from
 * @param turn the sender's turn id, or null
 * @param messages the new turn's messages; empty if the kind has none
 * @param options the turn's generation options, or null
 * @param newBranch the branch that a fork makes, or null
 * @param atTurn see {@link ConversationEvent#atTurn}
 * @param origin where its event was read, or null
 * @param accepted when it was accepted, milliseconds since the epoch
 * @param metadata its sender's, or null
 * @param cache what its cached pages are worth, or null
 * @param after number of the turn that it follows, {@link Turn#ROOT} for none; {@link #LATEST} for
 *     the latest of its branch. If there is no such branch when it is accepted, it is made once
 *     that turn has ended.
 * @param whole whether the messages are a whole conversation, which the turn {@code after} may be
 *     part of: what it follows is decided once that turn has ended
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

  /** Stands for whatever turn is the latest of the branch when this one runs. */
  public static final long LATEST = -1;

  /** Returns this turn once it is decided what it follows, and which of its messages are new. */
  public PendingTurn following(long turn, List<Message> added) {
    return new PendingTurn(
        id, kind, branch, this.turn, added, options, newBranch, atTurn, origin, accepted, metadata,
        cache, turn, false);
  }

  /** Returns this turn, still undecided, when it may follow another one. */
  public PendingTurn waitingFor(long other) {
    return new PendingTurn(
        id, kind, branch, turn, messages, options, newBranch, atTurn, origin, accepted, metadata,
        cache, other, true);
  }

  /** Returns the branch in whose order the turn is: a fork is the first of the branch it makes. */
  public String queue() {
    return kind == EventKind.FORK ? newBranch : branch;
  }
}
