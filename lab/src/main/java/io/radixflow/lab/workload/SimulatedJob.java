package io.radixflow.lab.workload;

import io.radixflow.engine.PromptException;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.traffic.Target;
import io.radixflow.lab.traffic.TrafficTurn;
import io.radixflow.operators.session.Prompt;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Reply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A simulated job. It gets recorded events, knows their replies, and collects the requests that a
 * cache would get. Turns run one after the other. A reply's tokens are stored after its prompt, as
 * in the engine.
 */
final class SimulatedJob implements Target<ConversationEvent, Reply> {
  private record Owner(String tenant, String cacheSalt) {}

  private final int pageTokens;
  private final ConversationTokens tokens;
  private final Map<TrafficTurn, Reply> replies;
  private final Map<String, SimulatedSession> sessions = new HashMap<>();
  private final Map<Owner, Integer> scopes = new HashMap<>();
  private final CacheWorkload.Builder requests = new CacheWorkload.Builder();

  /** Joins tokens to pages. */
  private final PageJoiner pages;

  private long withoutReply;
  private long refused;
  private long promptTokens;
  private long cachedTokens;

  /**
   * @param replies the recorded replies by turn
   */
  SimulatedJob(int pageTokens, ConversationTokens tokens, Map<TrafficTurn, Reply> replies) {
    this.pageTokens = pageTokens;
    this.pages = new PageJoiner(requests, pageTokens);
    this.tokens = tokens;
    this.replies = replies;
  }

  @Override
  public CompletableFuture<Reply> send(ConversationEvent event) {
    Reply reply = replies.get(TrafficTurn.of(event));
    SimulatedSession session =
        sessions.computeIfAbsent(event.session(), id -> new SimulatedSession(sessions.size()));
    if (!session.closed) {
      serve(session, event, reply);
    }
    return CompletableFuture.completedFuture(reply);
  }

  private void serve(SimulatedSession session, ConversationEvent event, Reply reply) {
    switch (event.kind()) {
      case OPEN -> session.open(event, event.messages());
      case MESSAGE, REGENERATE -> {
        if (session.isNew(event.turn())) {
          run(session, event, reply);
        }
      }
      case FORK -> session.fork(event);
      case CLOSE, ERASE -> {
        session.close();
        requests.close(session.number);
      }
      case APPEND -> {
        if (session.isNew(event.turn()) && !isRejected(reply)) {
          session.append(event, reply == null ? event.branch() : reply.branch());
        }
      }
      case CANCEL, PREFETCH, QUERY, DELETE_TURN -> {
        // these events have no reply; the effect of a cancel is in the reply that it ended
      }
    }
  }

  private static boolean isRejected(Reply reply) {
    return reply != null && reply.finishReason().equals("rejected");
  }

  private void run(SimulatedSession session, ConversationEvent event, Reply known) {
    withoutReply += known == null ? 1 : 0;
    Reply reply =
        known == null
            ? Reply.builder(event.session(), event.branch(), event.turn(), event.kind()).build()
            : known;
    SimulatedSession.Plan plan = isRejected(reply) ? null : session.plan(event);
    Prompt prompt = plan == null ? null : prompt(session, plan, reply);
    if (prompt == null) {
      refused++;
      return;
    }
    int[] answer = tokens.reply(reply.text());
    Owner owner = new Owner(session.tenant, session.cacheSalt);
    int scope = scopes.computeIfAbsent(owner, each -> scopes.size());
    requests.begin(scope, session.number, session.branchNumber(reply.branch()));
    store(prompt.ids(), answer);
    promptTokens += reply.usage().promptTokens();
    cachedTokens += reply.usage().cachedTokens();
    if (isRemembered(reply)) {
      session.remember(event, plan, prompt, reply, answer);
    }
  }

  /** Returns the prompt of a turn, or null if the job would reject it. */
  private Prompt prompt(SimulatedSession session, SimulatedSession.Plan plan, Reply reply) {
    try {
      int dropped = Math.max(0, reply.droppedTurns());
      return tokens.prompt(session.conversation(plan.path()), plan.messages(), dropped);
    } catch (PromptException e) {
      return null;
    }
  }

  /** Returns true if the turn becomes part of the conversation, as in the serving operator. */
  private static boolean isRemembered(Reply reply) {
    return switch (reply.finishReason()) {
      case "stop", "length", "tool_calls" -> true;
      case "cancelled" -> !reply.text().isEmpty();
      default -> false;
    };
  }

  /**
   * Stores a turn. The last token of a prompt is always computed, and the last token of a reply
   * never.
   */
  private void store(int[] prompt, int[] reply) {
    int inputs = Math.max(0, prompt.length - 1) / pageTokens * pageTokens;
    pages.begin();
    for (int i = 0; i < prompt.length + reply.length - 1; i++) {
      if (i == inputs) {
        requests.endInput();
      }
      pages.addBlock(i < prompt.length ? prompt[i] : reply[i - prompt.length]);
    }
  }

  CacheWorkload requests() {
    return requests.build();
  }

  /** Returns omissions and assumptions. */
  List<String> notes() {
    List<String> notes = new ArrayList<>();
    notes.add(tokens.note());
    notes.add("only whole pages before a prompt's last token count; replies are stored");
    add(notes, withoutReply, "turns have no reply here, so later prompts lack it");
    add(
        notes,
        refused,
        "turns were refused, or would be (no room, no such branch), and are left out");
    return notes;
  }

  /**
   * Returns notes on how much of the prompts came from the cache when the replies were made; empty
   * if unknown.
   */
  List<String> cacheNotes() {
    return promptTokens == 0
        ? List.of()
        : List.of(
            String.format(
                Locale.ROOT,
                "when these replies were made, %.2f %% of the prompts' tokens came from the cache",
                100.0 * cachedTokens / promptTokens));
  }

  private static void add(List<String> notes, long count, String what) {
    if (count > 0) {
      notes.add(count + " " + what);
    }
  }
}
