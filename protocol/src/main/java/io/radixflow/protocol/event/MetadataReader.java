package io.radixflow.protocol.event;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import java.util.Map;
import java.util.TreeMap;

/** Reads {@code metadata} from an event. */
final class MetadataReader {
  static final int MAX_PAIRS = 64;
  static final int MAX_KEY = 64;
  static final int MAX_VALUE = 4096;
  static final int MAX_BYTES = 16 * 1024;

  private MetadataReader() {}

  /** The pairs; null if none are given. */
  static Map<String, String> read(JsonObject event) {
    JsonObject given = event.object("metadata");
    if (given == null) {
      return null;
    }
    Map<String, String> pairs = new TreeMap<>();
    int count = 0;
    long bytes = 0;
    for (String key : given.names()) {
      if (++count > MAX_PAIRS) {
        throw new InvalidInputException(
            "metadata has more than " + MAX_PAIRS + " pairs, which is the limit");
      }
      if (Texts.length(key) > MAX_KEY) {
        throw new InvalidInputException(
            "metadata has the key "
                + Texts.quote(key)
                + " of "
                + Texts.length(key)
                + " characters; at most "
                + MAX_KEY
                + " are allowed");
      }
      String value = given.require(key).text(key);
      if (Texts.length(value) > MAX_VALUE) {
        throw new InvalidInputException(
            given.path(key)
                + " has "
                + Texts.length(value)
                + " characters; at most "
                + MAX_VALUE
                + " are allowed");
      }
      bytes += key.getBytes(UTF_8).length + value.getBytes(UTF_8).length;
      pairs.put(Texts.wellFormed(key), Texts.wellFormed(value));
    }
    if (bytes > MAX_BYTES) {
      throw new InvalidInputException(
          "metadata has " + bytes + " bytes; at most " + MAX_BYTES + " are allowed");
    }
    return pairs;
  }
}
