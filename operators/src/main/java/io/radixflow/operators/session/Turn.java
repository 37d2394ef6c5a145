package io.radixflow.operators.session;

import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.Message;
import java.util.List;

/**
 * A finished turn in a session's history: its messages and its reply; a Flink POJO.
 *
 * <p>Turns form a tree by {@code parent}; a branch names its last turn, so that a fork shares its
 * ancestry and a regeneration is a sibling. A turn is never changed.
 *
 * <p>A root of the tree is not a turn. Its message is a system prompt. Storing it here saves a
 * separate state. The session's system prompt is the root {@link #ROOT}; a session without a system
 * prompt does not have that root. Branches whose sender gave another system prompt, or none, have
 * other roots.
 *
 * <p>The canonical ids of a conversation are its ids in the next prompt. Each turn of the path
 * keeps the first {@code keep} canonical ids of its parent and appends {@code ids}.
 *
 * @param id number within the session
 * @param parent number of the turn before; the number of the root if there is none
 * @param depth turns before this one on its path, including dropped turns
 * @param turn id of the turn as the sender gave it
 * @param answeredBy id in the reply: the id of the regeneration, else {@code turn}
 * @param messages the turn's messages
 * @param options the turn's own generation options, or null
 * @param regeneration how often the reply was regenerated
 * @param reply the reply as in later prompts; null if the turn was appended without a reply
 * @param finishReason lower case; null without a reply
 * @param details details kept for queries; null for a root
 * @param keep number of the parent's canonical ids that are kept; 0 if the prompt was encoded again
 * @param ids canonical ids after those, up to and including the reply's end-of-turn id
 * @param tokenizer fingerprint of the tokenizer of {@code ids}; empty if the reply has no ids
 *     because a model with another tokenizer began it
 * @param variant the {@link PromptOptions#identity} of its prompt
 * @param dropped how many of the path's oldest turns the prompt left out
 * @param root number of the root that its branch begins with
 * @param hash hash of the conversation up to and including the reply, see {@link ConversationHash};
 *     null if unknown
 * @param hidden whether its sender deleted it: it stays in the context of later turns, but nothing
 *     else shows or continues it
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
    Message reply,
    String finishReason,
    TurnDetails details,
    int keep,
    int[] ids,
    String tokenizer,
    String variant,
    int dropped,
    long root,
    String hash,
    boolean hidden) {

  /** The number of the session's root. */
  public static final long ROOT = 0;

  /**
   * Returns a root.
   *
   * @param system the system prompt, or null
   */
  public static Turn root(long id, String system) {
    List<Message> messages = system == null ? List.of() : List.of(new Message("system", system));
    String hash = ConversationHash.of(system);
    return new Turn(
        id,
        id,
        0,
        "",
        "",
        messages,
        null,
        0,
        null,
        "",
        null,
        0,
        new int[0],
        "",
        "",
        0,
        id,
        hash,
        false);
  }

  /**
   * Returns a turn without a reply.
   *
   * @param turn id of the turn
   * @param before the conversation before it
   */
  public static Turn appended(
      long id,
      String turn,
      List<Message> messages,
      TurnDetails details,
      TurnParent parent,
      Conversation before) {
    return new Turn(
        id,
        parent.turn(),
        before.depth(),
        turn,
        turn,
        messages,
        null,
        0,
        null,
        null,
        details,
        0,
        new int[0],
        "",
        "",
        before.dropped(),
        parent.root(),
        ConversationHash.with(parent.hash(), messages),
        false);
  }

  /** Returns this turn after its sender deleted it. */
  public Turn asHidden() {
    return new Turn(
        id,
        parent,
        depth,
        turn,
        answeredBy,
        messages,
        options,
        regeneration,
        reply,
        finishReason,
        details,
        keep,
        ids,
        tokenizer,
        variant,
        dropped,
        root,
        hash,
        true);
  }

  public boolean isRoot() {
    return turn.isEmpty();
  }

  /** Returns the system prompt that a root has, or null. */
  public String system() {
    return messages.isEmpty() ? null : messages.get(0).content();
  }

  /** Returns whether the sender means this turn by {@code id}. */
  public boolean isNamed(String id) {
    return !hidden && (turn.equals(id) || answeredBy.equals(id));
  }
}
