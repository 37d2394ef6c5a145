package io.radixflow.operators.flink.turn.intake;

import io.radixflow.operators.flink.state.History;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.turn.end.SessionErasure;
import io.radixflow.operators.flink.turn.run.BranchChanges;
import io.radixflow.operators.flink.turn.run.HistoryMatcher;
import io.radixflow.operators.flink.turn.run.TurnQueues;
import io.radixflow.operators.session.BusyException;
import io.radixflow.operators.session.ConversationHash;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.Turn;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/**
 * Chooses the branch of a turn when it is accepted, and makes branches for turns that do not follow
 * the latest turn. The choice is stored with the turn, so it is the same after a failure. Only the
 * task's thread uses it.
 *
 * <p>A session has a bounded number of branches. If there is no room for a new branch, the least
 * recently used branches are dropped. The main branch stays, and so do branches with running or
 * waiting turns.
 */
public record BranchSelector(
    TurnQueues queues, HistoryMatcher matcher, SessionErasure erasure, int maxBranches) {
  /** One in this many branches is dropped at the same time, because each drop reads the session. */
  private static final int DROPPED_SHARE = 8;

  /**
   * The place of a turn in its session.
   *
   * @param branch the branch of the turn
   * @param messages the turn's new messages
   * @param after see {@link PendingTurn#after}
   * @param whole see {@link PendingTurn#whole}
   * @param make the kind of branch to make, or null if the branch exists
   */
  record Target(String branch, List<Message> messages, long after, boolean whole, Made make) {}

  /**
   * The changes that a new branch needs.
   *
   * @param dropped branches that make room for it
   * @param root messages of the new root, none or a system prompt; null if the branch follows an
   *     existing turn or root
   */
  record Made(List<String> dropped, List<Message> root) {}

  /**
   * Chooses the branch of a turn, and changes nothing.
   *
   * @param messages the event's messages, without the system prompt if the event opens the session
   * @throws RefusedException if the branch or turn does not exist
   */
  Target choose(ConversationEvent event, SessionContext session, List<Message> messages)
      throws Exception {
    boolean opened = session.slot().opened();
    if (opened && (event.matchHistory() || "".equals(event.previousTurn()))) {
      return matching(event, session);
    }
    if (event.matchHistory()) {
      return following(session, Turn.ROOT, event.turn(), messages);
    }
    if (event.previousTurn() != null) {
      long previous = number(session, event.previousTurn());
      return following(session, previous, event.turn(), messages);
    }
    requireBranch(session, event.branch());
    return new Target(event.branch(), messages, PendingTurn.LATEST, false, null);
  }

  /** Chooses for a turn whose messages begin the conversation. */
  private Target matching(ConversationEvent event, SessionContext session) throws Exception {
    List<Message> messages = event.messages();
    int root = HistoryMatcher.rootMessages(messages);
    if (!event.matchHistory()) {
      Long known =
          root == 0
              ? (Long) Turn.ROOT
              : session.match(ConversationHash.of(messages.get(0).content()));
      return begun(session, event.turn(), messages, known, root);
    }
    HistoryMatcher.Match match = matcher.match(session, messages);
    if (match.awaited() != HistoryMatcher.Match.NONE) {
      SortedMap<String, Long> heads = session.history().heads();
      Made make = new Made(leastRecentlyUsed(session, heads), null);
      return new Target(name(session, event.turn()), messages, match.awaited(), true, make);
    }
    return begun(session, event.turn(), messages, match.turn(), match.messages());
  }

  /**
   * Chooses for a turn whose first messages the history already has.
   *
   * @param turn the last turn or root with these messages, or null if not even the root exists
   * @param covered how many messages the history has
   */
  private Target begun(
      SessionContext session, String name, List<Message> messages, Long turn, int covered)
      throws Exception {
    List<Message> added = messages.subList(covered, messages.size());
    if (turn != null) {
      return following(session, turn, name, added);
    }
    Made make =
        new Made(
            leastRecentlyUsed(session, session.history().heads()), messages.subList(0, covered));
    return new Target(name(session, name), added, PendingTurn.LATEST, false, make);
  }

  private void requireBranch(SessionContext session, String branch) throws Exception {
    if (!session.history().hasBranch(branch) && !queues.has(session.id(), branch)) {
      throw new RefusedException(ErrorCode.UNKNOWN_BRANCH, "there is no branch '" + branch + "'");
    }
  }

  /** Returns the number of a turn by its id, including running and waiting turns. */
  long number(SessionContext session, String turn) throws Exception {
    if (turn.isEmpty()) {
      return Turn.ROOT;
    }
    for (TurnQueues.Branch branch : queues.branches(session.id())) {
      for (TurnQueues.Entry entry : branch.turns) {
        if (turn.equals(entry.turn()) && entry.kind() != EventKind.FORK) {
          return entry.id();
        }
      }
    }
    Long number = session.history().find(turn);
    if (number == null) {
      throw new RefusedException(
          ErrorCode.UNKNOWN_TURN, "there is no turn '" + turn + "' in the session");
    }
    return number;
  }

  /**
   * Returns the branch whose latest turn is {@code turn}, or a new branch.
   *
   * @param name the base of a new branch's name
   */
  private Target following(SessionContext session, long turn, String name, List<Message> messages)
      throws Exception {
    SortedMap<String, Long> heads = session.history().heads();
    String branch = branchAt(session, heads, turn);
    if (branch != null) {
      return new Target(branch, messages, turn, false, null);
    }
    Made make = new Made(leastRecentlyUsed(session, heads), null);
    return new Target(name(session, name), messages, turn, false, make);
  }

  private String name(SessionContext session, String turn) throws Exception {
    String name = turn;
    while (session.history().hasBranch(name) || queues.has(session.id(), name)) {
      name += "'";
    }
    return name;
  }

  /**
   * Returns the branch whose latest turn, including running and waiting turns, is {@code turn}; or
   * null.
   */
  private String branchAt(SessionContext session, SortedMap<String, Long> heads, long turn)
      throws Exception {
    for (TurnQueues.Branch branch : queues.branches(session.id())) {
      TurnQueues.Entry last = branch.turns.peekLast();
      if (last.id() == turn && last.kind() != EventKind.FORK) {
        return branch.name;
      }
    }
    String main = ConversationEvent.MAIN_BRANCH;
    if (!queues.has(session.id(), main) && session.history().endsWith(main, turn)) {
      return main;
    }
    for (Map.Entry<String, Long> head : heads.entrySet()) {
      if (head.getValue() == turn && !queues.has(session.id(), head.getKey())) {
        return head.getKey();
      }
    }
    return null;
  }

  /** Returns the branches to drop for a new branch; none while there is room. */
  private List<String> leastRecentlyUsed(SessionContext session, SortedMap<String, Long> heads)
      throws BusyException {
    Set<String> busy = new HashSet<>();
    busy.add(ConversationEvent.MAIN_BRANCH);
    for (TurnQueues.Branch branch : queues.branches(session.id())) {
      branch.turns.forEach(turn -> busy.addAll(List.of(turn.queue(), turn.branch())));
    }
    Set<String> all = new HashSet<>(heads.keySet());
    all.addAll(busy);
    int excess = all.size() + 1 - maxBranches;
    if (excess <= 0) {
      return List.of();
    }
    List<String> idle =
        heads.keySet().stream()
            .filter(branch -> !busy.contains(branch))
            .sorted(Comparator.comparing(heads::get))
            .toList();
    if (idle.size() < excess) {
      throw new BusyException(
          "the session has its limit of %d branches, all in use".formatted(maxBranches));
    }
    int dropped = Math.max(excess, maxBranches / DROPPED_SHARE);
    return idle.subList(0, Math.min(dropped, idle.size()));
  }

  /**
   * Makes the branch of an admitted turn, if it does not exist and the turn before it has ended. An
   * existing branch keeps its beginning.
   *
   * @return the value of {@link PendingTurn#after} for the turn
   */
  long make(SessionContext session, Target target) throws Exception {
    Made make = target.make();
    if (make == null) {
      return target.after();
    }
    History history = session.history();
    long after = make.root() == null ? target.after() : BranchChanges.begin(session, make.root());
    if (!target.whole() && history.has(after)) {
      history.fork(target.branch(), after);
    }
    if (!make.dropped().isEmpty()) {
      erasure.removed(session, () -> history.drop(make.dropped()));
    }
    return after;
  }

  /**
   * Deletes a turn of the history.
   *
   * @see History#delete
   */
  void delete(SessionContext session, long turn) throws Exception {
    List<String> idle = new ArrayList<>();
    session
        .history()
        .heads()
        .forEach(
            (branch, head) -> {
              if (head == turn && !queues.has(session.id(), branch)) {
                idle.add(branch);
              }
            });
    erasure.removed(session, () -> session.history().delete(turn, idle));
  }
}
