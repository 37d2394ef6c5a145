package io.radixflow.models.file.format;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.io.RegularFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads untrusted JSON. Its size, number of values, depth, and lengths of names and numbers are
 * bounded.
 */
public final class BoundedJson {
  /** Names, values and brackets: twice the number in the largest published tokenizer. */
  private static final long MOST_TOKENS = 5_000_000;

  private static final ObjectMapper MAPPER =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(32)
                      .maxNameLength(4096)
                      .maxStringLength(1 << 20)
                      .maxNumberLength(64)
                      .maxTokenCount(MOST_TOKENS)
                      .build())
              .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
              // Python writes NaN and infinities; the readers of numbers check them
              .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
              .build());

  private BoundedJson() {}

  /**
   * Reads a file, which must be a JSON object of at most {@code limit} bytes.
   *
   * @throws ModelFormatException if it is not
   */
  public static JsonNode object(Path file, int limit) throws IOException {
    long size = Files.size(RegularFiles.require(file));
    if (size > limit) {
      throw new ModelFormatException(file + ": " + size + " bytes; at most " + limit + " are read");
    }
    try (InputStream in = Files.newInputStream(file)) {
      return object(in.readNBytes(limit), file.toString());
    }
  }

  /**
   * Parses bytes, which must be a JSON object.
   *
   * @param source named in errors
   * @throws ModelFormatException if they are not
   */
  public static JsonNode object(byte[] bytes, String source) throws IOException {
    JsonNode node;
    try {
      node = MAPPER.readTree(bytes);
    } catch (JsonProcessingException e) {
      throw new ModelFormatException(source + ": not valid JSON: " + e.getOriginalMessage(), e);
    }
    if (node == null || !node.isObject()) {
      throw new ModelFormatException(source + ": not a JSON object");
    }
    return node;
  }
}
