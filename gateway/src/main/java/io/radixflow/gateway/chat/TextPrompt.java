package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;

/**
 * A prompt of a completion.
 *
 * @param text null if the prompt is token ids
 * @param ids null if the prompt is a text
 */
record TextPrompt(String text, List<Integer> ids) {

  /**
   * Reads a text, ids, or a list of texts or ids.
   *
   * @param most the highest number of prompts
   */
  static List<TextPrompt> read(JsonObject body, int most) {
    body.require("prompt");
    JsonNode given = body.get("prompt");
    if (!given.isArray() || given.path(0).isNumber()) {
      return List.of(one("prompt", given));
    }
    List<TextPrompt> prompts = new ArrayList<>();
    for (JsonNode each : body.array("prompt", "prompts", most)) {
      prompts.add(one("prompt[" + prompts.size() + "]", each));
    }
    if (prompts.isEmpty()) {
      throw empty("prompt");
    }
    return prompts;
  }

  private static TextPrompt one(String path, JsonNode given) {
    if (!given.isTextual() && !given.isArray()) {
      throw JsonObject.wrongType(path, given, "a string or an array of token ids");
    }
    if (given.isTextual() ? given.textValue().isEmpty() : given.isEmpty()) {
      throw empty(path);
    }
    if (given.isTextual()) {
      return new TextPrompt(Texts.wellFormed(given.textValue()), null);
    }
    return new TextPrompt(null, JsonObject.naturals(path, given));
  }

  private static InvalidInputException empty(String path) {
    return new InvalidInputException(path + " is empty: it must say something");
  }

  /** Returns the message for the prompt in an event. */
  Message message() {
    return text == null ? Message.ofIds(ids) : new Message(Message.PROMPT, text);
  }
}
