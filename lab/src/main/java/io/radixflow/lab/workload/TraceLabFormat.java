package io.radixflow.lab.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.protocol.json.JsonObject;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Traces of coding agents as TraceLab published them: a record is a request with the numbers of its
 * prompt's tokens and of the provider's cached tokens, but nothing identifies the content. So the
 * shared prefixes are assumed:
 *
 * <ul>
 *   <li>A prompt at least as long as the session's previous prompt begins with all of it.
 *   <li>A shorter prompt, after a compaction, begins with as much of the previous prompt as was
 *       cached.
 *   <li>All sessions of a model share the cached part of a session's first prompt.
 * </ul>
 *
 * <p>Requests are in the order of their first recorded events.
 */
final class TraceLabFormat implements WorkloadFormat {
  private static final int DEFAULT_PAGE = 512;
  private static final int MAX_ROUNDS = 1 << 24;
  private static final int MAX_STREAM_PAGES = 1 << 30;

  /** A request; its time in milliseconds since the epoch, or {@link Long#MIN_VALUE}. */
  private record Round(int session, long index, long time, long tokens, long cached, int model) {}

  /** Pages of a session's prompt: pages from {@code from} on have ids from {@code first} on. */
  private record Part(long from, long first) {}

  private final int pageTokens;
  private final SessionTimeline timeline = new SessionTimeline(1, Double.MAX_VALUE);
  private final Map<String, Integer> sessions = new HashMap<>();
  private final Map<String, Integer> models = new HashMap<>();
  private final Map<Integer, Long> sharedIds = new HashMap<>();
  private final List<Round> rounds = new ArrayList<>();
  private long pages;
  private long streams;

  TraceLabFormat(WorkloadOptions options) {
    this.pageTokens = options.pageTokens() == 0 ? DEFAULT_PAGE : options.pageTokens();
  }

  static boolean recognises(JsonObject record) {
    return record.has("session_id") && record.has("input_tokens_total");
  }

  @Override
  public void add(WorkloadLine line) throws WorkloadException {
    JsonObject fields =
        line.fields().require("session_id", "round_index", "input_tokens_total", "prefix_tokens");
    if (rounds.size() == MAX_ROUNDS) {
      throw line.error("there are more than " + MAX_ROUNDS + " requests; take a part of the trace");
    }
    long tokens = fields.integer("input_tokens_total", 0, Integer.MAX_VALUE);
    pages += tokens / pageTokens;
    if (pages > CacheWorkload.MAX_BLOCKS) {
      throw line.error(
          "there are more than %d pages in all; take a part of the trace, or larger pages"
              .formatted(CacheWorkload.MAX_BLOCKS));
    }
    String model = fields.text("provider") + " " + fields.text("model");
    rounds.add(
        new Round(
            sessions.computeIfAbsent(fields.text("session_id"), id -> sessions.size()),
            fields.integer("round_index", 0, Long.MAX_VALUE),
            time(fields),
            tokens,
            Math.min(tokens, fields.integer("prefix_tokens", 0, Integer.MAX_VALUE)),
            models.computeIfAbsent(model, name -> models.size())));
  }

  private static long time(JsonObject fields) {
    JsonNode events = fields.array("timing_events", "events", Integer.MAX_VALUE);
    if (events == null || events.isEmpty()) {
      return Long.MIN_VALUE;
    }
    String time = JsonObject.text("timestamp", events.get(0).path("timestamp"));
    try {
      return Instant.parse(time).toEpochMilli();
    } catch (DateTimeException | ArithmeticException e) {
      throw new IllegalArgumentException("timing_events[0].timestamp is not a time of ISO 8601");
    }
  }

  @Override
  public Workload finish() {
    rounds.sort(Comparator.comparingInt(Round::session).thenComparingLong(Round::index));
    Round before = null;
    List<Part> parts = new ArrayList<>();
    long clock = 0;
    for (Round round : rounds) {
      boolean isFirst = before == null || before.session != round.session;
      clock = isFirst ? Math.max(0, round.time) : Math.max(clock, round.time);
      if (isFirst) {
        begin(parts, round);
      } else if (round.tokens < before.tokens) {
        divergeAt(parts, round.cached / pageTokens);
      }
      add(round, parts, clock / 1e3);
      before = round;
    }
    return new Workload(
        "agent sessions with token counts",
        pageTokens,
        timeline.build(),
        List.of(
            "the trace has numbers of tokens only: a prompt is taken to begin with the one before"
                + " it, one that shrank with its cached part, a first one with the part that was"
                + " cached for its model"));
  }

  /**
   * Begins a session. The cached part of its first prompt is shared by all sessions of its model.
   */
  private void begin(List<Part> parts, Round first) {
    parts.clear();
    parts.add(new Part(0, sharedIds.computeIfAbsent(first.model, model -> nextIds())));
    divergeAt(parts, first.cached / pageTokens);
  }

  /** Gives new ids to the pages from {@code page} on. */
  private void divergeAt(List<Part> parts, long page) {
    while (!parts.isEmpty() && parts.get(parts.size() - 1).from >= page) {
      parts.remove(parts.size() - 1);
    }
    parts.add(new Part(page, nextIds()));
  }

  private long nextIds() {
    return streams++ * MAX_STREAM_PAGES;
  }

  private void add(Round round, List<Part> parts, double time) {
    long end = round.tokens / pageTokens;
    timeline.begin();
    for (int i = 0; i < parts.size(); i++) {
      Part part = parts.get(i);
      long to = i + 1 < parts.size() ? Math.min(end, parts.get(i + 1).from) : end;
      if (to > part.from) {
        timeline.run(part.first + part.from, to - part.from);
      }
    }
    timeline.end(new SessionTimeline.Place(time, 0, round.session, 0));
  }
}
