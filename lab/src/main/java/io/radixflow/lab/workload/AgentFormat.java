package io.radixflow.lab.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.lab.simulate.CacheWorkload;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Traces of coding agents: requests of sessions with their time since the session began, and runs
 * of ids of 64-token blocks, local to the session. When the sessions began is not recorded: they
 * start at equal distances, in the order of their numbers, and the common clock is cut at a
 * horizon.
 */
final class AgentFormat implements WorkloadFormat {
  private static final int BLOCK_TOKENS = 64;
  private static final int DEFAULT_PAGE = 512;
  private static final int MAX_RANGES = 1 << 26;
  private static final int MAX_REQUEST_BLOCKS = 1 << 20;

  /** A request; its runs are at {@code firstRun} and after. */
  private record Request(double time, int session, int firstRun, int endRun) {}

  private final WorkloadOptions options;
  private final int blocksPerPage;
  private final List<Request> requests = new ArrayList<>();
  private long[] firsts = new long[1024];
  private long[] counts = new long[1024];
  private int runs;
  private long pages;

  AgentFormat(WorkloadOptions options) throws WorkloadException {
    this.options = options;
    this.blocksPerPage = options.blocksPerPage(BLOCK_TOKENS, DEFAULT_PAGE);
  }

  static boolean recognises(JsonObject record) {
    return record.has("ranges");
  }

  @Override
  public void add(WorkloadLine line) throws WorkloadException {
    JsonObject fields = line.fields().require("session", "t", "ranges");
    int session = fields.integer("session", 0, Integer.MAX_VALUE).intValue();
    double time = session * options.sessionSpacing() + fields.number("t", 0, Double.MAX_VALUE);
    JsonNode ranges = fields.array("ranges", "ranges", MAX_RANGES);
    if (runs + (long) ranges.size() > MAX_RANGES) {
      throw line.error("the file has more than " + MAX_RANGES + " ranges; take a part of it");
    }
    int first = runs;
    long blocks = 0;
    for (int i = 0; i < ranges.size(); i++) {
      blocks += addRange(line, "ranges[" + i + "]", ranges.get(i));
    }
    if (time >= options.horizon()) {
      runs = first;
      return;
    }
    pages += blocks / blocksPerPage;
    if (blocks > MAX_REQUEST_BLOCKS || pages > CacheWorkload.MAX_BLOCKS) {
      throw line.error(
          "there are more than %d blocks in a request, or %d pages in all; take a part of the trace"
              .formatted(MAX_REQUEST_BLOCKS, CacheWorkload.MAX_BLOCKS));
    }
    requests.add(new Request(time, session, first, runs));
  }

  /** Returns its number of blocks. */
  private long addRange(WorkloadLine line, String name, JsonNode range) throws WorkloadException {
    if (!range.isArray() || range.size() != 2) {
      throw line.error(name + " must be a pair of first id and count");
    }
    if (runs == firsts.length) {
      firsts = Arrays.copyOf(firsts, 2 * runs);
      counts = Arrays.copyOf(counts, 2 * runs);
    }
    firsts[runs] = JsonObject.integer(name + "[0]", range.get(0), 0, 1L << 53);
    counts[runs++] = JsonObject.integer(name + "[1]", range.get(1), 0, MAX_REQUEST_BLOCKS);
    return counts[runs - 1];
  }

  @Override
  public Workload finish() {
    requests.sort(Comparator.comparingDouble(Request::time).thenComparingInt(Request::session));
    CacheWorkload.Builder builder = new CacheWorkload.Builder();
    PageJoiner pages = new PageJoiner(builder, blocksPerPage);
    for (Request request : requests) {
      builder.begin(request.session);
      pages.begin();
      for (int i = request.firstRun; i < request.endRun; i++) {
        pages.addRange(firsts[i], counts[i]);
      }
    }
    return new Workload(
        "agent trace", blocksPerPage * BLOCK_TOKENS, builder.build(), List.of(note()));
  }

  private String note() {
    return "sessions start %s s apart, cut after %s h: this interleaving is a choice, the trace has none"
        .formatted(plain(options.sessionSpacing()), plain(options.horizon() / 3600));
  }

  private static String plain(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }
}
