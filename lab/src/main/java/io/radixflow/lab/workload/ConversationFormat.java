package io.radixflow.lab.workload;

import io.radixflow.engine.EngineOptions;
import io.radixflow.lab.traffic.TrafficTurn;
import io.radixflow.protocol.event.EventParser;
import io.radixflow.protocol.event.ParsedEvent;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The job's own traffic: records of its topics of events and replies, in one or several files,
 * mixed in any order. The prompts of later turns are computed from the replies. Turns are ordered
 * by time if every event has a time, else as in the files.
 */
final class ConversationFormat implements WorkloadFormat {
  private static final int MAX_EVENT_BYTES = 64 << 20;

  private record Timed(long time, ConversationEvent event) {}

  private final int pageTokens;
  private final ConversationTokens tokens;
  private final EventParser parser = new EventParser(MAX_EVENT_BYTES);
  private final List<Timed> events = new ArrayList<>();
  private final Map<TrafficTurn, Reply> replies = new HashMap<>();
  private long invalidEvents;
  private String firstInvalid;

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
      replies.put(TrafficTurn.of(reply), reply);
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

  @Override
  public Workload finish() {
    if (events.stream().allMatch(event -> event.time >= 0)) {
      events.sort(Comparator.comparingLong(Timed::time));
    }
    SimulatedJob job = new SimulatedJob(pageTokens, tokens, replies);
    events.forEach(event -> job.send(event.event));
    List<String> notes = job.notes();
    if (invalidEvents > 0) {
      notes.add(invalidEvents + " events are invalid and left out, the first: " + firstInvalid);
    }
    notes.addAll(job.cacheNotes());
    return new Workload("conversation events", pageTokens, job.requests(), notes);
  }
}
