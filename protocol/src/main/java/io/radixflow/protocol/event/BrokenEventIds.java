package io.radixflow.protocol.event;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/**
 * Finds session, branch, turn, type and tenant of an event that cannot be parsed as a whole,
 * because it is broken JSON, repeats a field or is too large. It scans the bytes up to the first
 * error.
 */
final class BrokenEventIds {

  private static final int SCANNED_BYTES = 64 * 1024;

  private final Set<String> seen = new HashSet<>();
  private String session;
  private String branch;
  private String turn;
  private String type;
  private String tenant;
  private boolean ambiguous;

  private BrokenEventIds() {}

  static BrokenEventIds scan(JsonFactory factory, byte[] value) {
    BrokenEventIds ids = new BrokenEventIds();
    int length = Math.min(value.length, SCANNED_BYTES);
    try (JsonParser parser = factory.createParser(value, 0, length)) {
      parser.disable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
      if (parser.nextToken() == JsonToken.START_OBJECT) {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
          ids.field(parser.currentName(), parser);
        }
      }
    } catch (IOException e) {
      return ids;
    }
    return ids;
  }

  private void field(String name, JsonParser parser) throws IOException {
    String text = parser.nextToken() == JsonToken.VALUE_STRING ? parser.getText() : null;
    parser.skipChildren();
    switch (name) {
      case "session" -> session = text;
      case "branch" -> branch = text;
      case "turn" -> turn = text;
      case "type" -> type = text;
      case "tenant" -> tenant = text;
      default -> {
        return;
      }
    }
    ambiguous |= !seen.add(name);
  }

  /**
   * Returns whether a reply can be addressed. Returns false for a cancel, because it names the turn
   * of another event.
   */
  boolean answerable() {
    return !ambiguous && valid(session) && valid(turn) && !"cancel".equals(type);
  }

  String session() {
    return session;
  }

  String branch() {
    return valid(branch) ? branch : null;
  }

  String turn() {
    return turn;
  }

  /** The tenant; empty if the event has no valid tenant. */
  String tenant() {
    return valid(tenant) ? tenant : "";
  }

  String type() {
    return type;
  }

  private static boolean valid(String id) {
    return id != null
        && !id.isEmpty()
        && Texts.length(id) <= JsonObject.MAX_ID
        && Texts.isPlain(id);
  }
}
