package io.radixflow.lab.workload;

import io.radixflow.jobs.event.EventParser;
import io.radixflow.jobs.event.ParsedEvent;
import io.radixflow.jobs.event.RecordReader;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.operators.engine.EngineOptions;
import io.radixflow.operators.engine.PromptException;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.Origin;
import io.radixflow.operators.record.Reply;
import io.radixflow.operators.session.Prompt;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The job's own traffic: records of its topic of events, and of its topic of replies, from which
 * the prompts of later turns follow; in one file or in several, in any order among the two. Turns
 * run one after the other, ordered by time if every event has one, else as the files have them. A
 * reply's tokens are stored behind its prompt, as the engine does it.
 */
final class ConversationFormat implements WorkloadFormat {
  private static final int MAX_EVENT_BYTES = 64 << 20;

  private record Timed(long time, ConversationEvent event) {}

  private record TurnKey(String session, String turn) {}

  private record Owner(String tenant, String cacheSalt) {}

  private final int pageTokens;
  private final ConversationTokens tokens;
  private final EventParser parser = new EventParser(MAX_EVENT_BYTES);
  private final List<Timed> events = new ArrayList<>();
  private final Map<TurnKey, Reply> replies = new HashMap<>();
  private final Map<String, ReplayedSession> sessions = new HashMap<>();
  private final Map<Owner, Integer> scopes = new HashMap<>();
  private final CacheWorkload.Builder requests = new CacheWorkload.Builder();
  private long invalidEvents;
  private String firstInvalid;
  private long withoutReply;
  private long refused;
  private long promptTokens;
  private long cachedTokens;

  ConversationFormat(WorkloadOptions options) {
    this.pageTokens =
        options.pageTokens() == 0 ? EngineOptions.DEFAULT.pageTokens() : options.pageTokens();
    this.tokens =
        options.model() == null ? new ApproximateTokens() : ConversationTokens.of(options.model());
  }

  static boolean recognises(JsonObject record) {
    return record.has("session")
        && (record.has("choices") || record.has("messages") || record.has("type"));
  }

  @Override
  public void add(WorkloadLine line) throws IOException {
    if (line.fields().has("session") && line.fields().has("choices")) {
      Reply reply = reply(line);
      replies.put(new TurnKey(reply.session(), reply.turn()), reply);
      return;
    }
    if (!recognises(line.fields())) {
      throw line.error("an event or a reply of the job's topics is expected, as on the first line");
    }
    ParsedEvent parsed = parser.parse(line.bytes(), new Origin(-1, 0, line.time()));
    if (parsed.isValid()) {
      events.add(new Timed(line.time(), parsed.event()));
    } else if (invalidEvents++ == 0) {
      firstInvalid = line.error(parsed.reason()).getMessage();
    }
  }

  private static Reply reply(WorkloadLine line) throws IOException {
    Reply reply;
    try {
      reply = RecordReader.reply(line.bytes());
    } catch (IOException e) {
      throw line.error(e.getMessage());
    }
    if (reply.finishReason() == null) {
      throw line.error("a reply has choices with message.content and finish_reason");
    }
    return reply;
  }

  /** Returns true if the turn becomes part of the conversation, as in the serving operator. */
  private static boolean isRemembered(Reply reply) {
    return switch (reply.finishReason()) {
      case "stop", "length", "tool_calls" -> true;
      case "cancelled" -> !reply.text().isEmpty();
      default -> false;
    };
  }

  @Override
  public Workload finish() {
    if (events.stream().allMatch(event -> event.time >= 0)) {
      events.sort(Comparator.comparingLong(Timed::time));
    }
    events.forEach(event -> replay(event.event));
    return new Workload("conversation events", pageTokens, requests.build(), notes());
  }

  private void replay(ConversationEvent event) {
    ReplayedSession session =
        sessions.computeIfAbsent(event.session(), id -> new ReplayedSession(sessions.size()));
    if (session.isClosed()) {
      return;
    }
    switch (event.kind()) {
      case OPEN -> session.open(event);
      case MESSAGE, REGENERATE -> run(session, event);
      case FORK -> session.fork(event);
      case CLOSE, ERASE -> {
        session.close();
        requests.close(session.number);
      }
      case APPEND -> append(session, event);
      case CANCEL, PREFETCH, QUERY, DELETE_TURN -> {
        // ask for no reply of their own; what a cancel ended shows in the reply that it ended
      }
    }
  }

  private void append(ReplayedSession session, ConversationEvent event) {
    Reply reply = replies.get(new TurnKey(event.session(), event.turn()));
    if (session.isNew(event.turn())
        && (reply == null || !reply.finishReason().equals("rejected"))) {
      session.append(event, reply == null ? event.branch() : reply.branch());
    }
  }

  private void run(ReplayedSession session, ConversationEvent event) {
    if (!session.isNew(event.turn())) {
      return;
    }
    Reply reply = replies.get(new TurnKey(event.session(), event.turn()));
    if (reply == null) {
      withoutReply++;
      reply = Reply.builder(event.session(), event.branch(), event.turn(), event.kind()).build();
    }
    ReplayedSession.Plan plan =
        reply.finishReason().equals("rejected") ? null : session.plan(event);
    if (plan == null) {
      refused++;
      return;
    }
    Prompt prompt;
    try {
      prompt =
          tokens.prompt(
              session.conversation(plan), plan.messages(), Math.max(0, reply.droppedTurns()));
    } catch (PromptException e) {
      refused++;
      return;
    }
    int[] answer = tokens.reply(reply.text());
    begin(session, reply.branch());
    store(prompt.ids(), answer);
    promptTokens += reply.usage().promptTokens();
    cachedTokens += reply.usage().cachedTokens();
    if (isRemembered(reply)) {
      session.remember(event, plan, prompt, reply, answer);
    }
  }

  private void begin(ReplayedSession session, String branch) {
    int scope =
        scopes.computeIfAbsent(
            new Owner(session.tenant(), session.cacheSalt()), owner -> scopes.size());
    requests.begin(scope, session.number, session.branchNumber(branch));
  }

  /** The last token of a prompt is always computed, and that of a reply never. */
  private void store(int[] prompt, int[] reply) {
    int inputs = Math.max(0, prompt.length - 1) / pageTokens;
    int pages = Math.max(0, prompt.length + reply.length - 1) / pageTokens;
    for (int page = 0; page < pages; page++) {
      if (page == inputs) {
        requests.endInput();
      }
      requests.block(content(prompt, reply, page * pageTokens));
    }
  }

  /** A hash of a page's ids. */
  private long content(int[] prompt, int[] reply, int from) {
    long hash = 0;
    for (int i = from; i < from + pageTokens; i++) {
      int id = i < prompt.length ? prompt[i] : reply[i - prompt.length];
      hash = (hash ^ id) * 0x9E37_79B9_7F4A_7C15L;
      hash ^= hash >>> 32;
    }
    return hash;
  }

  private List<String> notes() {
    List<String> notes = new ArrayList<>();
    notes.add(tokens.note());
    notes.add("only whole pages before a prompt's last token count; replies are stored");
    add(notes, withoutReply, "turns have no reply here, so later prompts lack it");
    add(
        notes,
        refused,
        "turns were refused, or would be (no room, no such branch), and are left out");
    add(notes, invalidEvents, "events are invalid and left out, the first: " + firstInvalid);
    if (promptTokens > 0) {
      notes.add(
          String.format(
              Locale.ROOT,
              "when these replies were made, %.2f %% of the prompts' tokens came from the cache",
              100.0 * cachedTokens / promptTokens));
    }
    return notes;
  }

  private static void add(List<String> notes, long count, String what) {
    if (count > 0) {
      notes.add(count + " " + what);
    }
  }
}
