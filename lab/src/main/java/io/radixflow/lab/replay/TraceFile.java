package io.radixflow.lab.replay;

import io.radixflow.jobs.json.InvalidInputException;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.jobs.json.Texts;
import io.radixflow.tools.cli.common.CliException;
import io.radixflow.tools.cli.common.Errors;
import io.radixflow.tools.cli.common.JsonLineInput;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Reads a recorded trace of cache operations: JSON lines, plain or gzip. The first line describes
 * the cache, each other line is one operation with its observed result.
 */
final class TraceFile implements AutoCloseable {
  private static final int BUFFER = 1 << 16;

  private final String name;
  private final JsonLineInput input;
  private int line;

  /**
   * @param name of the file, for errors
   * @throws CliException if the stream begins like gzip and is none
   */
  TraceFile(String name, InputStream stream) throws IOException {
    this.name = name;
    this.input = new JsonLineInput(unzipped(name, stream));
  }

  private static InputStream unzipped(String name, InputStream stream) throws IOException {
    BufferedInputStream plain = new BufferedInputStream(stream, BUFFER);
    plain.mark(2);
    boolean gzip = plain.read() == 0x1f && plain.read() == 0x8b;
    plain.reset();
    try {
      return gzip ? new GZIPInputStream(plain, BUFFER) : plain;
    } catch (ZipException | EOFException e) {
      throw CliException.badInput(name + ": no valid gzip file: " + Errors.line(e), e);
    }
  }

  /**
   * Reads the first line; to be called once, first.
   *
   * @throws CliException if the line is not the first line of a trace
   */
  TraceSetup setup() throws IOException {
    JsonObject fields = nextFields();
    if (fields == null) {
      throw CliException.badInput(
          name + ": the file is empty; a trace begins with {\"policy\",…}", null);
    }
    try {
      return new TraceSetup(
          fields.require("policy").text("policy"),
          integer(fields, "page"),
          fields.bool("eagle", false));
    } catch (IllegalArgumentException e) {
      throw bad(e);
    }
  }

  /**
   * Reads all operations.
   *
   * @throws CliException if a line is none
   */
  List<TraceStep> steps() throws IOException {
    List<TraceStep> steps = new ArrayList<>();
    for (JsonObject fields = nextFields(); fields != null; fields = nextFields()) {
      try {
        steps.add(new TraceStep(operation(fields), counts(fields)));
      } catch (IllegalArgumentException e) {
        throw bad(e);
      }
    }
    return steps;
  }

  /** Returns an error about the line that was read last. */
  private CliException bad(RuntimeException error) {
    return CliException.badInput(name + ", line " + line + ": " + Errors.line(error), error);
  }

  private JsonObject nextFields() throws IOException {
    JsonLineInput.Line next;
    try {
      next = input.next();
    } catch (ZipException | EOFException e) {
      throw CliException.badInput(
          name + ", after line " + line + ": the gzip file is damaged or cut: " + Errors.line(e),
          e);
    }
    line++;
    if (next != null && next.error() != null) {
      throw CliException.badInput(name + ", line " + line + ": " + next.error(), null);
    }
    return next == null ? null : next.fields();
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

  /** The slots of an empty sequence begin nowhere. */
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
    input.close();
  }
}
