package io.radixflow.operators.flink.turn.run;

import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.session.ConversationHash;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.TurnPlan;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * A client sent a whole conversation: finds the part of it that is in the session's history. Only
 * the task's thread uses it.
 *
 * <p>The matcher looks up hashes of beginnings of the conversation in the state, the longest
 * beginning first, so it does not read turns. After {@link #LOOK_UPS} failed look-ups it reads all
 * hashes of the session at once, so that a long conversation that the client rewrote does not cost
 * one look-up per message. A running turn may also be part of the conversation: the client may have
 * received its reply before a failure. In that case the client's text of the reply begins with the
 * text that has been generated again so far. The match waits for that turn. Its reply is the same
 * in every attempt, so the new turn always gets the same parent.
 */
public record HistoryMatcher(TurnQueues queues, TurnPlanner planner) {
  /** A client that only appends to its conversation needs few look-ups. */
  private static final int LOOK_UPS = 32;

  /**
   * The part of a conversation that is in a session's history.
   *
   * @param turn number of the last turn, or root, of this part; null if not even the system prompt
   *     matches
   * @param messages number of the conversation's messages in this part
   * @param awaited number of a turn without a reply that may cover more, or {@link #NONE}
   */
  public record Match(Long turn, int messages, long awaited) {
    public static final long NONE = -1;
  }

  /**
   * Returns how many messages of a conversation are its root: 1 if it begins with a system prompt,
   * else 0. If the system prompt is the only message, it is the turn's message and not the root.
   */
  public static int rootMessages(List<Message> conversation) {
    return conversation.size() > 1 && conversation.get(0).instructs() ? 1 : 0;
  }

  /**
   * Returns the part of a conversation that is in the session's history. The last message is never
   * part of it.
   *
   * @param conversation at least one message
   */
  public Match match(SessionContext session, List<Message> conversation) throws Exception {
    List<String> hashes = new ArrayList<>();
    hashes.add(ConversationHash.EMPTY);
    for (Message message : conversation.subList(0, conversation.size() - 1)) {
      String before = hashes.get(hashes.size() - 1);
      hashes.add(ConversationHash.with(before, message));
    }
    int root = rootMessages(conversation);
    int covered = conversation.size() - 1;
    Long turn = session.match(hashes.get(covered));
    Predicate<String> known = hash -> true;
    while (turn == null && covered > root) {
      covered--;
      if (conversation.size() - covered == LOOK_UPS) {
        known = session.known(covered);
      }
      if (covered == root || known.test(hashes.get(covered))) {
        turn = session.match(hashes.get(covered));
      }
    }
    return new Match(turn, covered, awaited(session, conversation, hashes, covered));
  }

  private long awaited(
      SessionContext session, List<Message> conversation, List<String> hashes, int covered)
      throws Exception {
    List<TurnQueues.Branch> branches = queues.branches(session.id());
    if (branches.isEmpty()) {
      return Match.NONE;
    }
    Map<String, String> replies = new HashMap<>();
    for (int i = covered; i < conversation.size() - 1; i++) {
      Message message = conversation.get(i);
      if (message.role().equals("assistant")) {
        replies.put(
            hashes.get(i),
            ConversationHash.canonical(message.content() == null ? "" : message.content()));
      }
    }
    for (TurnQueues.Branch branch : branches) {
      if (!replies.isEmpty() && mayEndWith(session, branch, replies)) {
        return branch.turns.peek().id();
      }
    }
    return Match.NONE;
  }

  /**
   * Returns whether the first turn of a branch may get a reply that the conversation contains.
   *
   * @param replies texts of the conversation's replies by the hash of the messages before them
   */
  private boolean mayEndWith(
      SessionContext session, TurnQueues.Branch branch, Map<String, String> replies)
      throws Exception {
    TurnPlan plan = plan(session, branch);
    if (plan == null) {
      return false;
    }
    String said = ConversationHash.with(plan.parent().hash(), plan.messages());
    String reply = said == null ? null : replies.get(said);
    String shown = branch.running == null ? "" : branch.running.parts().content();
    return reply != null && reply.startsWith(ConversationHash.canonical(shown));
  }

  /**
   * Returns the plan of the first turn of a branch; null if the turn does not have a plan yet or
   * does not need one.
   */
  private TurnPlan plan(SessionContext session, TurnQueues.Branch branch) throws Exception {
    if (branch.running != null) {
      return branch.running.plan();
    }
    TurnQueues.Entry first = branch.turns.peek();
    boolean generates = first.kind() == EventKind.MESSAGE || first.kind() == EventKind.REGENERATE;
    if (!generates || !session.history().hasBranch(branch.name)) {
      return null;
    }
    try {
      return planner.plan(session, session.pending(first.id()));
    } catch (RefusedException e) {
      return null;
    }
  }
}
