package io.radixflow.lab.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.json.JsonObject;
import java.util.List;

/**
 * Traces of coding agents in the format of kv-cache-tester and the cc-traces-weka data sets. A
 * record, often in its own file, is a session with its requests. Each request has the ids of its
 * prompt's whole blocks. Requests of a sub-agent are nested and share the session's ids. The start
 * times of sessions are not recorded: sessions start at equal intervals, in the order of the files,
 * and the common clock is cut at a horizon.
 */
final class WekaFormat implements WorkloadFormat {
  private static final int DEFAULT_BLOCK = 64;
  private static final int MAX_BLOCK = 1 << 16;
  private static final int DEFAULT_PAGE = 512;
  private static final int MAX_REQUESTS = 1 << 24;
  private static final int MAX_DEPTH = 16;

  private final WorkloadOptions options;
  private int blockTokens;
  private int blocksPerPage;
  private SessionTimeline timeline;
  private int sessions;
  private int branches;
  private boolean global;

  WekaFormat(WorkloadOptions options) {
    this.options = options;
  }

  static boolean recognises(JsonObject record) {
    return record.has("requests");
  }

  @Override
  public void add(WorkloadLine line) throws WorkloadException {
    JsonObject session = line.fields().require("requests");
    int block = (int) session.integer("block_size", 1, MAX_BLOCK, DEFAULT_BLOCK);
    if (timeline == null) {
      blockTokens = block;
      blocksPerPage = options.blocksPerPage(block, DEFAULT_PAGE);
      timeline = new SessionTimeline(blocksPerPage, options.horizon());
    } else if (block != blockTokens) {
      throw line.error(
          "block_size is %d, but %d in the first session".formatted(block, blockTokens));
    }
    global = "global".equals(session.text("hash_id_scope"));
    branches = 1;
    addAll(session, options.start(sessions), 0, 0);
    sessions++;
  }

  /**
   * Adds the requests of a session or of a sub-agent.
   *
   * @param start when it began, on the common clock
   */
  private void addAll(JsonObject agent, double start, int branch, int depth) {
    if (depth > MAX_DEPTH) {
      throw new IllegalArgumentException("sub-agents are nested more than " + MAX_DEPTH + " deep");
    }
    for (JsonObject request : agent.objects("requests", "requests", MAX_REQUESTS)) {
      request.require("t");
      double time = request.number("t", 0, Double.MAX_VALUE);
      if ("subagent".equals(request.text("type"))) {
        double own = isRelative(request, time) ? start + time : start;
        addAll(request, own, branches++, depth + 1);
      } else {
        add(request, start + time, branch);
      }
    }
  }

  /** Returns whether a sub-agent's times count from its own start instead of the session's. */
  private static boolean isRelative(JsonObject agent, double began) {
    JsonNode requests = agent.get("requests");
    JsonNode first = requests == null ? null : requests.get(0);
    return first != null && first.path("t").asDouble() < began;
  }

  private void add(JsonObject request, double time, int branch) {
    request.require("hash_ids");
    JsonNode ids = request.array("hash_ids", "ids", SessionTimeline.MAX_REQUEST_BLOCKS);
    timeline.begin();
    for (int i = 0; i < ids.size(); i++) {
      JsonNode id = ids.get(i);
      boolean plain = id.canConvertToInt() && id.isIntegralNumber() && id.intValue() >= 0;
      timeline.run(
          plain // builds no path per element: arrays can be long
              ? id.intValue()
              : JsonObject.integer(
                  request.path("hash_ids") + "[" + i + "]", id, 0, Long.MAX_VALUE - 1),
          1);
    }
    int scope = global ? 0 : sessions + 1;
    timeline.end(new SessionTimeline.Place(time, scope, sessions, branch));
  }

  @Override
  public Workload finish() {
    return new Workload(
        "agent sessions with block ids",
        blocksPerPage * blockTokens,
        timeline.build(),
        List.of(options.startsNote()));
  }
}
