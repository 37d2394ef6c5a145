package io.radixflow.gateway.responses;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;

/**
 * The settings of a request that its response repeats. The job keeps them with the turn, as an
 * entry of metadata that clients do not see, so that any gateway can show the response later. Their
 * names there are short, because every turn keeps them.
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
 * @param dropsOldest whether the oldest turns may be left out of the prompt
 * @param previous the id of the previous response, or null
 * @param tag identifies the instructions; see {@link ResponseIds#tag}
 * @param user as given, or null; so are the next three
 * @param custom the names of the request's tools of type custom
 */
record ResponseSettings(
    @JsonProperty("c") long created,
    @JsonProperty("m") String model,
    @JsonProperty("t") Double temperature,
    @JsonProperty("p") Double topP,
    @JsonProperty("x") Integer maxOutputTokens,
    @JsonProperty("n") int topLogprobs,
    @JsonProperty("l") boolean logprobs,
    @JsonProperty("b") boolean background,
    @JsonProperty("s") boolean store,
    @JsonProperty("a") boolean dropsOldest,
    @JsonProperty("v") String previous,
    @JsonProperty("g") String tag,
    @JsonProperty("u") String user,
    @JsonProperty("i") String safetyIdentifier,
    @JsonProperty("k") String promptCacheKey,
    @JsonProperty("r") String promptCacheRetention,
    @JsonProperty("o") Set<String> custom) {

  /** The key of the settings in the metadata; clients cannot set it. */
  static final String KEY = "radixflow.response";

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .serializationInclusion(JsonInclude.Include.NON_NULL)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  ResponseSettings {
    tag = tag == null ? "" : tag;
    custom = custom == null ? Set.of() : custom;
  }

  /** Returns settings for a turn whose settings are unknown. */
  static ResponseSettings unknown(long created, String model, String tag) {
    return JSON.convertValue(defaults(created, model).put("g", tag), ResponseSettings.class);
  }

  private static ObjectNode defaults(long created, String model) {
    return JSON.createObjectNode().put("c", created).put("m", model).put("s", true);
  }

  /** Returns the value of {@link #KEY}. */
  String encoded() {
    return JSON.valueToTree(this).toString();
  }

  /**
   * Reads the value of {@link #KEY}, which another client of the topics may have written.
   *
   * @param encoded the value, or null
   * @param created when the job received the turn, for values without a creation time
   * @param model the model's name, for values without a model
   */
  static ResponseSettings decoded(String encoded, long created, String model) {
    try {
      if (encoded != null && JSON.readTree(encoded) instanceof ObjectNode given) {
        return JSON.treeToValue(defaults(created, model).setAll(given), ResponseSettings.class);
      }
    } catch (JsonProcessingException e) {
      // written by another client: shown as a turn of that client
    }
    return unknown(created, model, "");
  }
}
