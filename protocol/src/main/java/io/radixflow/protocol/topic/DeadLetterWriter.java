package io.radixflow.protocol.topic;

import io.radixflow.protocol.json.Texts;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Writes a dead letter's headers, in the form of {@code schema/dead-letter.schema.json}. The value
 * of a dead letter is the original record's bytes.
 */
public final class DeadLetterWriter {

  private DeadLetterWriter() {}

  /** Header name to UTF-8 text. */
  public static Map<String, byte[]> headers(DeadLetter letter) {
    Map<String, byte[]> headers = new LinkedHashMap<>();
    put(headers, "radixflow.reason", Texts.wellFormed(letter.reason()));
    put(headers, "radixflow.topic", letter.topic());
    put(headers, "radixflow.partition", Integer.toString(letter.partition()));
    put(headers, "radixflow.offset", Long.toString(letter.offset()));
    put(headers, "radixflow.timestamp", Long.toString(letter.timestamp()));
    if (letter.value() != null && letter.value().length < letter.originalBytes()) {
      put(headers, "radixflow.original-bytes", Integer.toString(letter.originalBytes()));
    }
    return headers;
  }

  private static void put(Map<String, byte[]> headers, String name, String value) {
    headers.put(name, value.getBytes(StandardCharsets.UTF_8));
  }
}
