package io.radixflow.text.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Test data, one JSON object a line. */
public final class JsonLines {

  private static final ObjectMapper JSON = new ObjectMapper();

  private JsonLines() {}

  public static List<JsonNode> read(String resource) {
    try (InputStream in = JsonLines.class.getResourceAsStream(resource)) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return JSON.readerFor(JsonNode.class).<JsonNode>readValues(text).readAll();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static int[] ints(JsonNode array) {
    return JSON.convertValue(array, int[].class);
  }
}
