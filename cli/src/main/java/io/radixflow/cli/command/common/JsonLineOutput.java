package io.radixflow.cli.command.common;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;

/**
 * Writes JSON objects in ASCII, one per line. Other characters are escaped, so that a lone
 * surrogate in a text is kept.
 */
public final class JsonLineOutput implements AutoCloseable {
  private static final ObjectWriter JSON =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build().writer();

  private final PrintWriter writer;
  private final boolean owned;
  private int lines;
  private int errors;

  /**
   * @param writer receives the lines
   * @param owned whether closing this output closes the writer
   */
  public JsonLineOutput(PrintWriter writer, boolean owned) {
    this.writer = writer;
    this.owned = owned;
  }

  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  public static ArrayNode array(int[] ids) {
    ArrayNode array = JsonNodeFactory.instance.arrayNode(ids.length);
    for (int id : ids) {
      array.add(id);
    }
    return array;
  }

  public void write(ObjectNode line) {
    try {
      writer.print(JSON.writeValueAsString(line));
      writer.print('\n');
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
    writer.flush();
    if (writer.checkError()) {
      throw new CliException("cannot write the output; is the disk full or the reader gone?");
    }
    lines++;
  }

  public void writeError(String message) {
    errors++;
    write(object().put("error", message));
  }

  public int lines() {
    return lines;
  }

  /** Returns the number of lines that report an error. */
  public int errors() {
    return errors;
  }

  @Override
  public void close() {
    writer.flush();
    if (owned) {
      writer.close();
    }
  }
}
