package io.radixflow.gateway.responses;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The settings of a request that its response repeats. The job keeps them with the turn, as an
 * entry of metadata that clients do not see, so that any gateway can show the response later.
 *
 * @param created when the request arrived, in seconds since the epoch
 * @param model the model's name in the request
 * @param temperature as given, or null
 * @param topP as given, or null
 * @param maxOutputTokens as given, or null
 * @param topLogprobs number of alternatives per token
 * @param logprobs whether log probabilities were asked for
 * @param background whether the turn continues without its client
 * @param store whether the response can be read and continued later
 * @param truncation {@code auto} or {@code disabled}
 * @param previous the id of the previous response, or null
 * @param tag identifies the instructions; see {@link ResponseIds#tag}
 * @param user as given, or null; so are the next three
 * @param custom the names of the request's tools of type custom
 */
record ResponseSettings(
    long created,
    String model,
    Double temperature,
    Double topP,
    Integer maxOutputTokens,
    int topLogprobs,
    boolean logprobs,
    boolean background,
    boolean store,
    String truncation,
    String previous,
    String tag,
    String user,
    String safetyIdentifier,
    String promptCacheKey,
    String promptCacheRetention,
    Set<String> custom) {

  /** The key of the settings in the metadata; clients cannot set it. */
  static final String KEY = "radixflow.response";

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Returns settings for a turn whose settings are unknown. */
  static ResponseSettings unknown(long created, String model, String tag) {
    return new ResponseSettings(
        created,
        model,
        null,
        null,
        null,
        0,
        false,
        false,
        true,
        "disabled",
        null,
        tag,
        null,
        null,
        null,
        null,
        Set.of());
  }

  /** Returns the value of {@link #KEY}. */
  String encoded() {
    ObjectNode node = JSON.createObjectNode();
    node.put("c", created);
    node.put("m", model);
    put(node, "t", temperature);
    put(node, "p", topP);
    if (maxOutputTokens != null) {
      node.put("x", maxOutputTokens);
    }
    if (topLogprobs > 0) {
      node.put("n", topLogprobs);
    }
    flag(node, "l", logprobs);
    flag(node, "b", background);
    flag(node, "s", !store);
    flag(node, "a", truncation.equals("auto"));
    put(node, "v", previous);
    put(node, "g", tag.isEmpty() ? null : tag);
    put(node, "u", user);
    put(node, "i", safetyIdentifier);
    put(node, "k", promptCacheKey);
    put(node, "r", promptCacheRetention);
    if (!custom.isEmpty()) {
      custom.forEach(node.putArray("o")::add);
    }
    return node.toString();
  }

  private static void put(ObjectNode node, String key, Double value) {
    if (value != null) {
      node.put(key, value);
    }
  }

  private static void put(ObjectNode node, String key, String value) {
    if (value != null) {
      node.put(key, value);
    }
  }

  private static void flag(ObjectNode node, String key, boolean value) {
    if (value) {
      node.put(key, true);
    }
  }

  /**
   * Reads the value of {@link #KEY}, which another client of the topics may have written.
   *
   * @param encoded the value, or null
   * @param created when the job received the turn, for values without a creation time
   * @param model the model's name, for values without a model
   */
  static ResponseSettings decoded(String encoded, long created, String model) {
    JsonNode node = null;
    try {
      node = encoded == null ? null : JSON.readTree(encoded);
    } catch (JsonProcessingException e) {
      // written by another client: shown as a turn of that client
    }
    if (node == null || !node.isObject()) {
      return unknown(created, model, "");
    }
    return new ResponseSettings(
        node.path("c").asLong(created),
        node.path("m").asText(model),
        number(node, "t"),
        number(node, "p"),
        node.path("x").isInt() ? (Integer) node.path("x").intValue() : null,
        node.path("n").asInt(0),
        node.path("l").asBoolean(),
        node.path("b").asBoolean(),
        !node.path("s").asBoolean(),
        node.path("a").asBoolean() ? "auto" : "disabled",
        node.path("v").asText(null),
        node.path("g").asText(""),
        node.path("u").asText(null),
        node.path("i").asText(null),
        node.path("k").asText(null),
        node.path("r").asText(null),
        texts(node.path("o")));
  }

  private static Set<String> texts(JsonNode array) {
    Set<String> texts = new LinkedHashSet<>();
    array.forEach(text -> texts.add(text.asText()));
    return texts;
  }

  private static Double number(JsonNode node, String key) {
    return node.path(key).isNumber() ? (Double) node.path(key).doubleValue() : null;
  }
}
