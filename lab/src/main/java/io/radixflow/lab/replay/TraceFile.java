package io.radixflow.lab.replay;

import io.radixflow.lab.workload.WorkloadLine;
import io.radixflow.lab.workload.WorkloadLines;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads a recorded trace of cache operations: JSON lines, plain or gzip. The first line describes
 * the cache, each other line is one operation with its observed result.
 */
final class TraceFile implements AutoCloseable {
  private final String name;
  private final InputStream stream;
  private final WorkloadLines lines;

  /**
   * @param name name of the file, for errors
   */
  TraceFile(String name, InputStream stream) throws IOException {
    this.name = name;
    this.stream = stream;
    this.lines = new WorkloadLines(name, stream);
  }

  /**
   * Reads the first line. Called once, before {@link #steps}.
   *
   * @throws io.radixflow.lab.workload.WorkloadException if the line is not the first line of a
   *     trace
   */
  TraceSetup setup() throws IOException {
    WorkloadLine line = lines.next();
    if (line == null) {
      throw new IOException(name + ": the file is empty; a trace begins with {\"policy\",…}");
    }
    JsonObject fields = line.fields();
    try {
      String policy = fields.require("policy").text("policy");
      return new TraceSetup(policy, integer(fields, "page"), fields.bool("eagle", false));
    } catch (IllegalArgumentException e) {
      throw line.error(e.getMessage());
    }
  }

  /**
   * Reads all operations.
   *
   * @throws io.radixflow.lab.workload.WorkloadException if a line is not an operation
   */
  List<TraceStep> steps() throws IOException {
    List<TraceStep> steps = new ArrayList<>();
    for (WorkloadLine line = lines.next(); line != null; line = lines.next()) {
      try {
        steps.add(new TraceStep(operation(line.fields()), counts(line.fields())));
      } catch (IllegalArgumentException e) {
        throw line.error(e.getMessage());
      }
    }
    return steps;
  }

  private static TraceOperation operation(JsonObject fields) {
    String op = fields.require("op").text("op");
    return switch (op) {
      case "insert" -> insert(fields);
      case "match" ->
          new TraceOperation.Match(
              namespace(fields),
              fields.require("tokens").integers("tokens"),
              fields.has("thenLock") ? integer(fields, "thenLock") : null,
              integer(fields, "matched"),
              fields.require("values").integers("values"));
      case "unlock" -> new TraceOperation.Unlock(integer(fields, "lock"));
      case "evict" ->
          new TraceOperation.Evict(
              integer(fields, "request"),
              integer(fields, "evicted"),
              fields.require("freedValues").integers("freedValues"));
      default ->
          throw new InvalidInputException(
              "op is " + Texts.quote(op) + "; there are insert, match, unlock and evict");
    };
  }

  /** Reads an insert; an empty sequence has no first slot. */
  private static TraceOperation insert(JsonObject fields) {
    int[] tokens = fields.require("tokens").integers("tokens");
    return new TraceOperation.Insert(
        namespace(fields),
        tokens,
        tokens.length == 0 ? 0 : integer(fields, "firstValue"),
        fields.integer("priority", 0),
        integer(fields, "prefixLen"));
  }

  private static String namespace(JsonObject fields) {
    return fields.text("ns");
  }

  private static int integer(JsonObject fields, String field) {
    return fields.require(field).integer(field, 0);
  }

  private static TraceCounts counts(JsonObject fields) {
    return new TraceCounts(
        integer(fields, "evictable"),
        integer(fields, "protected"),
        integer(fields, "total"),
        integer(fields, "nodes"),
        integer(fields, "evictableLeaves"));
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
