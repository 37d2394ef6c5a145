package io.radixflow.lab.drill;

import io.radixflow.engine.cache.key.StableHash;
import io.radixflow.lab.drill.http.HttpScript;
import io.radixflow.lab.drill.http.TurnForm;
import io.radixflow.lab.traffic.ConversationSource;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * The events of one session, a function of a seed: an opening with a system prompt that all
 * sessions share, and messages. Some messages are on forked branches, some are regenerated, some
 * are cancelled and edited. Sampling is greedy, with a seed, or without a seed. Replies are free
 * text, JSON of a schema, or tool calls, whose results are the next turn. Some sessions belong to a
 * tenant; some are closed or erased at the end.
 *
 * <p>The text of a cancelled turn depends on when the cancel comes, and so would every turn that
 * follows it. So no turn follows it: the conversation continues on a new branch from the previous
 * turn, as if a user had edited the message.
 */
public final class SessionScript {
  /** The prefix of the ids of these sessions, and of no others. */
  public static final String PREFIX = "drill-";

  /** The key in the metadata of an event for the turn whose calls the event answers. */
  private static final String RESULTS_OF = "results-of";

  private static final double HOT = 0.9;
  private static final int MAX_SIDE_BRANCHES = 2;
  private static final int MAX_CANCEL_PAUSE_MILLIS = 2_500;

  private final SplittableRandom random;
  private final String session;
  private final int maxTokens;
  private final int mode;
  private final String tenant;
  private final List<ConversationEvent> events = new ArrayList<>();
  private final List<String> branches = new ArrayList<>(List.of(ConversationEvent.MAIN_BRANCH));
  private final List<String> lastTurns = new ArrayList<>();
  private int sideBranches;

  private SessionScript(long seed, int number, int maxTokens) {
    random = new SplittableRandom(seed * 1_000_003 + number);
    session = PREFIX + Long.toHexString(seed) + "-" + number;
    this.maxTokens = maxTokens;
    mode = number % 3;
    tenant = number % 5 == 4 ? "pilots" : "";
  }

  /**
   * Returns a session's events.
   *
   * @param number number of the session; unique among sessions with the same seed
   * @param turns steps after the opening; most steps are one event, an edit is several
   * @param maxTokens most tokens of each reply
   */
  static List<ConversationEvent> of(long seed, int number, int turns, int maxTokens) {
    SessionScript script = new SessionScript(seed, number, maxTokens);
    script.open();
    for (int i = 1; i <= turns; i++) {
      script.turn("t" + i);
    }
    script.end(number);
    return script.events;
  }

  /** Returns true if an event may only be sent while no other event of its session is in flight. */
  static boolean needsQuiet(ConversationEvent event) {
    return switch (event.kind()) {
      case OPEN, FORK, CLOSE, ERASE -> true;
      default -> event.matchHistory() || resultsOf(event) != null;
    };
  }

  /** Returns the turn whose calls an event answers; null if it answers none. */
  static String resultsOf(ConversationEvent event) {
    return event.metadata() == null ? null : event.metadata().get(RESULTS_OF);
  }

  /**
   * Returns the event after a reply, with the results of the reply's calls ({@link #resultsOf}). A
   * reply without calls is followed by a user's message.
   *
   * @param calls the reply with the calls
   */
  static ConversationEvent withResults(ConversationEvent event, Reply calls) {
    List<Message> results = new ArrayList<>();
    for (ToolCall call : calls.toolCalls()) {
      results.add(
          new Message("tool", TurnForm.result(call), call.name(), List.of(), call.id(), null));
    }
    return event.toBuilder()
        .messages(results.isEmpty() ? event.messages() : results)
        .metadata(null)
        .build();
  }

  /** Returns the events that are answered: all except cancels. */
  static List<ConversationEvent> turnsOf(List<ConversationEvent> events) {
    return events.stream().filter(event -> event.kind() != EventKind.CANCEL).toList();
  }

  /**
   * Returns the milliseconds between a cancel and the event before it; a function of the cancel.
   */
  static long pauseBefore(ConversationEvent cancel) {
    long hash = StableHash.of64(cancel.session(), String.valueOf(cancel.turn()), cancel.branch());
    return Math.floorMod(hash, MAX_CANCEL_PAUSE_MILLIS);
  }

  private void open() {
    List<Message> system = List.of(new Message("system", HttpScript.SYSTEM));
    events.add(event(EventKind.OPEN, "open", branches.get(0)).messages(system).build());
    lastTurns.add(null);
  }

  /** Ends the session: closes it, erases it, or leaves it open. */
  private void end(int number) {
    if (number % 4 == 1 || number % 4 == 2) {
      EventKind kind = number % 4 == 1 ? EventKind.CLOSE : EventKind.ERASE;
      events.add(event(kind, "end", ConversationEvent.MAIN_BRANCH).build());
    }
  }

  private void turn(String turn) {
    int branch = random.nextInt(branches.size());
    String name = branches.get(branch);
    String last = lastTurns.get(branch);
    double choice = random.nextDouble();
    if (last != null && choice < 0.1 && sideBranches < MAX_SIDE_BRANCHES) {
      String made = "side" + ++sideBranches;
      fork(turn, name, made, last);
      branches.add(made);
      lastTurns.add(null);
    } else if (last != null && choice < 0.2) {
      GenerationOptions options = options(TurnForm.draw(random));
      events.add(event(EventKind.REGENERATE, turn, name).atTurn(last).options(options).build());
    } else if (last != null && choice < 0.4) {
      cancelAndEdit(turn, branch);
    } else {
      lastTurns.set(branch, answered(turn, name));
    }
  }

  /**
   * Cancels a turn while it runs, while it waits or before it comes, or cancels all turns of the
   * branch.
   */
  private void cancelAndEdit(String turn, int branch) {
    String name = branches.get(branch);
    String second = turn + "-second";
    switch (random.nextInt(4)) {
      case 0 -> {
        message(turn, name);
        cancel(turn, name);
      }
      case 1 -> {
        message(turn, name);
        message(second, name);
        cancel(second, name);
      }
      case 2 -> {
        message(turn, name);
        message(second, name);
        cancel(null, name);
      }
      default -> {
        cancel(turn, name);
        message(turn, name);
      }
    }
    String edited = "edit-" + turn;
    fork(turn + "-fork", name, edited, lastTurns.get(branch));
    branches.set(branch, edited);
    lastTurns.set(branch, answered(turn + "-edit", edited));
  }

  /** Adds a message, and results for the calls of its reply; returns the last turn. */
  private String answered(String turn, String branch) {
    TurnForm form = message(turn, branch);
    if (!form.hasTools()) {
      return turn;
    }
    String results = turn + "-results";
    ConversationEvent user =
        message(results, branch, form.ofResults(), ConversationSource.question(random));
    events.add(user.toBuilder().metadata(Map.of(RESULTS_OF, turn)).build());
    return results;
  }

  private TurnForm message(String turn, String branch) {
    TurnForm form = TurnForm.draw(random);
    String text = form.input(ConversationSource.question(random));
    events.add(message(turn, branch, form, text));
    return form;
  }

  private ConversationEvent message(String turn, String branch, TurnForm form, String text) {
    return event(EventKind.MESSAGE, turn, branch)
        .messages(List.of(new Message("user", text)))
        .options(options(form))
        .build();
  }

  private void cancel(String turn, String branch) {
    events.add(event(EventKind.CANCEL, turn, branch).build());
  }

  private void fork(String turn, String branch, String made, String after) {
    events.add(event(EventKind.FORK, turn, branch).newBranch(made).atTurn(after).build());
  }

  private ConversationEvent.Builder event(EventKind kind, String turn, String branch) {
    return ConversationEvent.builder(kind, session, turn).branch(branch).tenant(tenant);
  }

  private GenerationOptions options(TurnForm form) {
    double temperature = mode == 0 ? 0 : HOT;
    Long seed = mode == 1 ? random.nextLong() >>> 16 : null;
    GenerationOptions.Builder options =
        GenerationOptions.builder().temperature(temperature).maxTokens(maxTokens).seed(seed);
    form.addTo(options);
    return options.build();
  }
}
