package io.radixflow.gateway.responses;

import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Entries that a client stores with a response or a conversation; the model never sees them.
 *
 * @param entries in the order given
 */
record Metadata(Map<String, String> entries) {

  private static final int MAX_ENTRIES = 16;
  private static final int MAX_KEY = 64;
  private static final int MAX_VALUE = 512;
  private static final String RESERVED = "radixflow.";

  /** Reads the field {@code metadata}; empty if it is not given. */
  static Metadata of(JsonObject body) {
    JsonObject given = body.object("metadata");
    Map<String, String> entries = new LinkedHashMap<>();
    if (given != null) {
      for (String key : given.names()) {
        String value = given.text(key);
        if (value != null) {
          check(key, value);
          entries.put(key, Texts.wellFormed(value));
        }
      }
    }
    if (entries.size() > MAX_ENTRIES) {
      throw new InvalidInputException(
          "metadata has " + entries.size() + " entries; at most " + MAX_ENTRIES + " are allowed");
    }
    return new Metadata(entries);
  }

  private static void check(String key, String value) {
    if (key.isEmpty() || Texts.length(key) > MAX_KEY || !Texts.isPlain(key)) {
      throw new InvalidInputException(
          "metadata has the key %s; it must have 1 to %d characters, and no control characters"
              .formatted(Texts.quote(key), MAX_KEY));
    }
    if (key.startsWith(RESERVED)) {
      throw new InvalidInputException(
          "metadata has the key " + Texts.quote(key) + "; keys must not begin with " + RESERVED);
    }
    if (Texts.length(value) > MAX_VALUE) {
      throw new InvalidInputException(
          "metadata.%s has %d characters; at most %d are allowed"
              .formatted(key, Texts.length(value), MAX_VALUE));
    }
  }

  /** Returns the client's own entries from the metadata that the job keeps. */
  static Metadata kept(Map<String, String> all) {
    Map<String, String> entries = new LinkedHashMap<>();
    all.forEach(
        (key, value) -> {
          if (!key.startsWith(RESERVED)) {
            entries.put(key, value);
          }
        });
    return new Metadata(entries);
  }

  /** Returns these entries and the settings of their response. */
  Map<String, String> with(ResponseSettings settings) {
    Map<String, String> all = new LinkedHashMap<>(entries);
    all.put(ResponseSettings.KEY, settings.encoded());
    return all;
  }
}
