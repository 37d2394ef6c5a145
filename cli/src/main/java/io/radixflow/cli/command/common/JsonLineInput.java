package io.radixflow.cli.command.common;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.LineReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** Reads JSON objects, one per line. */
public final class JsonLineInput implements AutoCloseable {
  private static final int MAX_LINE_BYTES = 64 << 20;
  private static final ObjectReader JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build()
          .readerFor(JsonNode.class);

  private final InputStream stream;
  private final LineReader lines;

  public JsonLineInput(InputStream stream) {
    this.stream = stream;
    lines = new LineReader(stream, MAX_LINE_BYTES);
  }

  /**
   * One input line.
   *
   * @param fields the fields, or null if the line is not a JSON object
   * @param error why it is not, or null
   */
  public record Line(JsonObject fields, String error) {}

  /** Returns the next line, or null after the last. */
  public Line next() throws IOException {
    try {
      byte[] bytes = lines.next();
      return bytes == null ? null : parse(bytes);
    } catch (InvalidInputException e) {
      return new Line(null, e.getMessage());
    }
  }

  public List<Line> all() throws IOException {
    List<Line> all = new ArrayList<>();
    for (Line line = next(); line != null; line = next()) {
      all.add(line);
    }
    return all;
  }

  /**
   * Sets a field given as {@code name=JSON}; a value that is not JSON is treated as text.
   *
   * @throws CliException if there is no {@code =}
   */
  public static void putField(ObjectNode target, String assignment) {
    int equals = assignment.indexOf('=');
    CliException.throwIf(equals <= 0, "--field " + assignment + " must have the form name=JSON");
    String text = assignment.substring(equals + 1);
    JsonNode value;
    try {
      value = JSON.readValue(text);
    } catch (IOException e) {
      value = TextNode.valueOf(text);
    }
    target.set(assignment.substring(0, equals), value);
  }

  private static Line parse(byte[] bytes) {
    try {
      return new Line(JsonObject.of(JSON.readValue(bytes), "the line"), null);
    } catch (InvalidInputException e) {
      return new Line(null, e.getMessage());
    } catch (IOException e) {
      return new Line(null, Errors.line(e));
    }
  }

  @Override
  public void close() throws IOException {
    if (stream != System.in) {
      stream.close();
    }
  }
}
