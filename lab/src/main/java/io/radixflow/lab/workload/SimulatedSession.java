package io.radixflow.lab.workload;

import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnParent;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One session after its events so far: owner, system prompt and the turns of each branch. */
final class SimulatedSession {

  /**
   * A turn that is about to run.
   *
   * @param path turns before it
   * @param messages its messages
   * @param turn the sender's first id of the turn
   * @param regeneration how often its reply was regenerated
   */
  record Plan(List<Turn> path, List<Message> messages, String turn, int regeneration) {}

  final int number;
  private final Set<String> turnIds = new HashSet<>();
  private final Map<String, List<Turn>> branches = new HashMap<>();
  private final Map<String, Integer> branchNumbers = new HashMap<>();
  private boolean opened;
  boolean closed;
  String tenant = "";
  String cacheSalt = "";
  private String system;
  private long nextId = 1;

  SimulatedSession(int number) {
    this.number = number;
    branches.put(ConversationEvent.MAIN_BRANCH, List.of());
  }

  int branchNumber(String branch) {
    return branchNumbers.computeIfAbsent(branch, name -> branchNumbers.size());
  }

  void close() {
    closed = true;
    branches.clear();
    turnIds.clear();
  }

  /** Returns true if the turn id is new here; a resend is ignored. */
  boolean isNew(String turn) {
    return turn == null || turnIds.add(turn);
  }

  /**
   * Opens the session unless it is open.
   *
   * @param prompt the system prompt, or nothing
   */
  void open(ConversationEvent event, List<Message> prompt) {
    if (!opened) {
      opened = true;
      tenant = event.tenant();
      cacheSalt = event.cacheSalt();
      system = prompt.isEmpty() ? null : prompt.get(0).content();
    }
  }

  /** Returns the request of a message or a regeneration, or null if the job refuses it. */
  Plan plan(ConversationEvent event) {
    if (Message.isPrompt(event.messages())) {
      return null; // no conversation
    }
    List<Message> messages = messages(event);
    List<Turn> path = before(event);
    if (path == null || !opened) {
      return null;
    }
    if (event.kind() == EventKind.MESSAGE) {
      return messages.isEmpty() ? null : new Plan(path, messages, event.turn(), 0);
    }
    int at = indexOf(path, event.atTurn());
    if (at < 0) {
      return null;
    }
    Turn old = path.get(at);
    return new Plan(path.subList(0, at), old.messages(), old.turn(), old.regeneration() + 1);
  }

  /** Returns the messages of a turn; opens the session if they are its first. */
  private List<Message> messages(ConversationEvent event) {
    List<Message> messages = event.messages();
    boolean prompted = !messages.isEmpty() && messages.get(0).role().equals("system");
    if (event.kind() == EventKind.REGENERATE) {
      return messages;
    }
    boolean opens = !opened;
    open(event, prompted ? messages : List.of());
    boolean known =
        opens || event.matchHistory() && prompted && messages.get(0).content().equals(system);
    return prompted && known ? messages.subList(1, messages.size()) : messages;
  }

  /**
   * Returns the turns before a new turn, or null if there is no such branch or turn. A conversation
   * that was sent as a whole has no earlier turns, because its messages are the whole conversation.
   */
  private List<Turn> before(ConversationEvent event) {
    if (event.matchHistory() || "".equals(event.previousTurn())) {
      return List.of();
    }
    if (event.previousTurn() == null) {
      return branches.get(event.branch());
    }
    for (List<Turn> path : branches.values()) {
      int at = indexOf(path, event.previousTurn());
      if (at >= 0) {
        return path.subList(0, at + 1);
      }
    }
    return null;
  }

  /**
   * Adds messages without a reply.
   *
   * @param branch the branch that the job chose
   */
  void append(ConversationEvent event, String branch) {
    List<Message> messages = messages(event);
    List<Turn> before = before(event);
    if (before == null || messages.isEmpty()) {
      return;
    }
    List<Turn> path = new ArrayList<>(before);
    TurnParent parent = new TurnParent(parent(path), Turn.ROOT, null);
    path.add(
        Turn.appended(
            nextId++, event.turn(), messages, null, parent, Conversation.of(system, before)));
    branches.put(branch, path);
  }

  private static long parent(List<Turn> path) {
    return path.isEmpty() ? Turn.ROOT : path.get(path.size() - 1).id();
  }

  Conversation conversation(List<Turn> path) {
    return Conversation.of(system, path);
  }

  void fork(ConversationEvent event) {
    List<Turn> path = branches.get(event.branch());
    int at = path == null ? -1 : indexOf(path, event.atTurn());
    boolean whole = path != null && path.isEmpty() && event.atTurn() == null;
    if (at >= 0 || whole) {
      branches.putIfAbsent(event.newBranch(), List.copyOf(path.subList(0, at + 1)));
    }
  }

  /** Adds a finished turn to its branch; removes the turns after the turn that it replaces. */
  void remember(ConversationEvent event, Plan plan, Prompt prompt, Reply reply, int[] ids) {
    int added = prompt.ids().length - prompt.keep();
    int[] own = new int[added + ids.length];
    System.arraycopy(prompt.ids(), prompt.keep(), own, 0, added);
    System.arraycopy(ids, 0, own, added, ids.length);
    List<Turn> path = new ArrayList<>(plan.path);
    path.add(
        new Turn(
            nextId++,
            parent(path),
            path.size(),
            plan.turn,
            event.turn(),
            plan.messages,
            null,
            plan.regeneration,
            new Message("assistant", reply.text()),
            reply.finishReason(),
            null,
            prompt.keep(),
            own,
            prompt.tokenizer(),
            "",
            prompt.dropped(),
            Turn.ROOT,
            null,
            false));
    branches.put(reply.branch(), path);
  }

  private static int indexOf(List<Turn> path, String turn) {
    int at = path.size() - 1;
    while (turn != null && at >= 0 && !path.get(at).isNamed(turn)) {
      at--;
    }
    return at;
  }
}
