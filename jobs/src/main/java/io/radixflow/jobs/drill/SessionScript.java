package io.radixflow.jobs.drill;

import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.EventKind;
import io.radixflow.operators.session.GenerationOptions;
import io.radixflow.operators.session.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The events of one session, a function of a seed: an opening with a system prompt that all share,
 * messages, some on branches forked off, some made again; greedy, with a seed, or without one.
 */
final class SessionScript {
  private static final String SYSTEM =
      "You are a harbour master who answers sailors briefly and kindly, and knows every light.";
  private static final List<String> WORDS =
      List.of(
          "what", "harbour", "light", "tells", "of", "the", "storm", "when", "boats", "return",
          "and", "who", "keeps", "watch", "over", "night", "wind", "tide", "name", "three");
  private static final double HOT = 0.9;

  private final SplittableRandom random;
  private final String session;
  private final int maxTokens;
  private final int mode;
  private final List<ConversationEvent> events = new ArrayList<>();
  private final List<String> branches = new ArrayList<>(List.of(ConversationEvent.MAIN_BRANCH));
  private final List<String> lastTurns = new ArrayList<>();

  private SessionScript(long seed, int number, int maxTokens) {
    random = new SplittableRandom(seed * 1_000_003 + number);
    session = "drill-" + Long.toHexString(seed) + "-" + number;
    this.maxTokens = maxTokens;
    mode = number % 3;
  }

  /**
   * A session's events.
   *
   * @param number of the session; others with the same seed have other numbers
   * @param turns events after the opening
   * @param maxTokens of each reply
   */
  static List<ConversationEvent> of(long seed, int number, int turns, int maxTokens) {
    SessionScript script = new SessionScript(seed, number, maxTokens);
    script.open();
    for (int i = 1; i <= turns; i++) {
      script.turn("t" + i);
    }
    return script.events;
  }

  /** Whether an event may only be sent when its session has no other under way. */
  static boolean needsQuiet(ConversationEvent event) {
    return event.kind() == EventKind.OPEN || event.kind() == EventKind.FORK;
  }

  private void open() {
    add(
        EventKind.OPEN,
        "open",
        branches.get(0),
        List.of(new Message("system", SYSTEM)),
        null,
        null);
    lastTurns.add(null);
  }

  private void turn(String turn) {
    int branch = random.nextInt(branches.size());
    String last = lastTurns.get(branch);
    double choice = random.nextDouble();
    if (last != null && choice < 0.1 && branches.size() < 3) {
      String made = "side" + branches.size();
      add(EventKind.FORK, turn, branches.get(branch), List.of(), made, last);
      branches.add(made);
      lastTurns.add(null);
    } else if (last != null && choice < 0.2) {
      add(EventKind.REGENERATE, turn, branches.get(branch), List.of(), null, last);
    } else {
      List<Message> messages = List.of(new Message("user", sentence()));
      add(EventKind.MESSAGE, turn, branches.get(branch), messages, null, null);
      lastTurns.set(branch, turn);
    }
  }

  private String sentence() {
    StringBuilder text = new StringBuilder();
    for (int i = 3 + random.nextInt(8); i > 0; i--) {
      text.append(WORDS.get(random.nextInt(WORDS.size()))).append(i == 1 ? "?" : " ");
    }
    return text.toString();
  }

  private void add(
      EventKind kind,
      String turn,
      String branch,
      List<Message> messages,
      String newBranch,
      String atTurn) {
    boolean generates = kind == EventKind.MESSAGE || kind == EventKind.REGENERATE;
    events.add(
        new ConversationEvent(
            kind,
            session,
            branch,
            turn,
            "",
            "",
            messages,
            generates ? options() : null,
            false,
            newBranch,
            atTurn,
            null));
  }

  private GenerationOptions options() {
    double temperature = mode == 0 ? 0 : HOT;
    Long seed = mode == 1 ? random.nextLong() >>> 16 : null;
    return new GenerationOptions(
        temperature,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        maxTokens,
        null,
        seed,
        null,
        null,
        null);
  }
}
