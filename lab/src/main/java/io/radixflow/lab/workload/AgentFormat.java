package io.radixflow.lab.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.protocol.json.JsonObject;
import java.util.List;

/**
 * Reads traces of coding agents. Each line is a request of a session: the time since the session
 * began, and ranges of ids of 64-token blocks. The ids are local to the session. The traces do not
 * record when a session began, so sessions start at equal intervals in the order of their numbers.
 * Requests after the horizon are dropped.
 */
final class AgentFormat implements WorkloadFormat {
  private static final int BLOCK_TOKENS = 64;
  private static final int DEFAULT_PAGE = 512;
  private static final int MAX_RANGES = 1 << 26;

  private final WorkloadOptions options;
  private final int blocksPerPage;
  private final SessionTimeline timeline;

  AgentFormat(WorkloadOptions options) throws WorkloadException {
    this.options = options;
    this.blocksPerPage = options.blocksPerPage(BLOCK_TOKENS, DEFAULT_PAGE);
    this.timeline = new SessionTimeline(blocksPerPage, options.horizon());
  }

  static boolean recognises(JsonObject record) {
    return record.has("ranges");
  }

  @Override
  public void add(WorkloadLine line) throws WorkloadException {
    JsonObject fields = line.fields().require("session", "t", "ranges");
    int session = fields.integer("session", 0, Integer.MAX_VALUE).intValue();
    double time = options.start(session) + fields.number("t", 0, Double.MAX_VALUE);
    JsonNode ranges = fields.array("ranges", "ranges", MAX_RANGES);
    timeline.begin();
    for (int i = 0; i < ranges.size(); i++) {
      addRange(line, "ranges[" + i + "]", ranges.get(i));
    }
    timeline.end(new SessionTimeline.Place(time, session, CacheWorkload.NO_SESSION, 0));
  }

  private void addRange(WorkloadLine line, String name, JsonNode range) throws WorkloadException {
    if (!range.isArray() || range.size() != 2) {
      throw line.error(name + " must be a pair of first id and count");
    }
    timeline.run(
        JsonObject.integer(name + "[0]", range.get(0), 0, 1L << 53),
        JsonObject.integer(name + "[1]", range.get(1), 0, SessionTimeline.MAX_REQUEST_BLOCKS));
  }

  @Override
  public Workload finish() {
    return new Workload(
        "agent trace",
        blocksPerPage * BLOCK_TOKENS,
        timeline.build(),
        List.of(options.startsNote()));
  }
}
