package io.radixflow.operators.session;

import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.record.Message;
import java.util.List;

/**
 * A finished turn in a session's history: what was asked and what was replied; a Flink POJO.
 *
 * <p>Turns form a tree by {@code parent}; a branch names its last turn, so that a fork shares its
 * ancestry and a regeneration is a sibling. A turn is never changed.
 *
 * <p>The tree's root, number {@link #ROOT}, is no turn: its message is the session's system prompt,
 * which is written once, here, so that it needs no state of its own. A session without one has no
 * root.
 *
 * <p>The canonical ids of a conversation, as the next prompt has them, are folded over the path:
 * the first {@code keep} ids of the parent's, then {@code ids}.
 *
 * @param id number within the session
 * @param parent number of the turn before, {@link #ROOT} for none
 * @param depth turns before this one on its path, dropped ones included
 * @param turn id of the turn as the sender gave it
 * @param answeredBy id under which the reply was given: that of a regeneration, else {@code turn}
 * @param messages the turn's messages
 * @param options the turn's own generation options, or null
 * @param regeneration how often the reply was regenerated before this
 * @param reply text of the reply
 * @param finishReason lower case
 * @param keep ids of the parent's canonical ids that stay; 0 if the prompt was encoded again
 * @param ids canonical ids after those, up to and including the reply's end-of-turn id
 * @param tokenizer fingerprint of the tokenizer that {@code ids} belong to
 * @param dropped how many of the path's oldest turns the prompt left out
 */
public record Turn(
    long id,
    long parent,
    int depth,
    String turn,
    String answeredBy,
    List<Message> messages,
    GenerationOptions options,
    int regeneration,
    String reply,
    String finishReason,
    int keep,
    int[] ids,
    String tokenizer,
    int dropped) {

  /** The number of the root, and the parent of turns that have none before. */
  public static final long ROOT = 0;

  /** Returns the root of a session with a system prompt. */
  public static Turn root(String system) {
    List<Message> messages = List.of(new Message("system", system));
    return new Turn(ROOT, ROOT, 0, "", "", messages, null, 0, "", "", 0, new int[0], "", 0);
  }

  /** Returns whether the sender means this turn by {@code id}. */
  public boolean isNamed(String id) {
    return turn.equals(id) || answeredBy.equals(id);
  }
}
