package io.radixflow.protocol.event;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import java.util.List;

/** Reads a predicted text, which a reply may repeat, in the form of the OpenAI API. */
final class PredictionReader {
  static final int MAX_LENGTH = 1 << 20;
  private static final int MAX_PARTS = 1_000;

  private PredictionReader() {}

  /** Returns the predicted text; null if it is not given or empty. */
  static String prediction(JsonObject fields) {
    JsonObject given = fields.object("prediction");
    if (given == null) {
      return null;
    }
    checkType(given.allow(List.of("type", "content")).require("type", "content"), "content");
    String text = content(given);
    int length = Texts.length(text);
    if (length > MAX_LENGTH) {
      throw new InvalidInputException(
          "prediction has " + length + " characters; at most " + MAX_LENGTH + " are allowed");
    }
    return text.isEmpty() ? null : Texts.wellFormed(text);
  }

  private static String content(JsonObject given) {
    JsonNode value = given.get("content");
    if (value.isTextual()) {
      return value.textValue();
    }
    if (!value.isArray()) {
      throw JsonObject.wrongType(given.path("content"), value, "a string or an array of parts");
    }
    StringBuilder joined = new StringBuilder();
    for (JsonObject part : given.objects("content", "parts", MAX_PARTS)) {
      checkType(part.allow(List.of("type", "text")).require("type", "text"), "text");
      joined.append(part.text("text"));
    }
    return joined.toString();
  }

  private static void checkType(JsonObject object, String wanted) {
    String type = object.text("type");
    if (!type.equals(wanted)) {
      throw JsonObject.notOneOf(object.path("type"), type, List.of(wanted));
    }
  }
}
