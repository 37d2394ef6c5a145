package io.radixflow.gateway.responses;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.responses.ResponseRecord.Status;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.record.Reply.TokenLogprob;
import io.radixflow.operators.record.Reply.TopLogprob;
import io.radixflow.operators.record.TierUsage;
import io.radixflow.operators.record.Usage;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Writes responses, items and conversations in OpenAI's form. */
final class ResponseJson {

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private ResponseJson() {}

  /** Writes a response object. */
  static ObjectNode response(ResponseRecord response) {
    ResponseSettings settings = response.settings();
    ObjectNode node = JSON.objectNode();
    node.put("id", response.id());
    node.put("object", "response");
    node.put("created_at", settings.created());
    node.put("status", name(response.status()));
    if (response.status() == Status.COMPLETED) {
      node.put("completed_at", response.completed());
    } else {
      node.putNull("completed_at");
    }
    node.put("background", settings.background());
    putConversation(node, response.session());
    node.set("error", error(response.failure()));
    if (response.status() == Status.INCOMPLETE) {
      node.putObject("incomplete_details").put("reason", "max_output_tokens");
    } else {
      node.putNull("incomplete_details");
    }
    node.put("instructions", response.instructions());
    putNumber(node, "max_output_tokens", settings.maxOutputTokens());
    node.putNull("max_tool_calls");
    node.put("model", settings.model());
    ArrayNode output = node.putArray("output");
    if (hasOutput(response)) {
      output.add(reply(response));
    }
    putDefaults(node);
    node.put("previous_response_id", settings.previous());
    node.put("prompt_cache_key", settings.promptCacheKey());
    node.put("prompt_cache_retention", settings.promptCacheRetention());
    node.putObject("reasoning").putNull("effort").putNull("summary");
    node.put("safety_identifier", settings.safetyIdentifier());
    node.put("store", settings.store());
    node.put("temperature", settings.temperature() == null ? 1.0 : settings.temperature());
    node.put("top_p", settings.topP() == null ? 1.0 : settings.topP());
    node.put("top_logprobs", settings.topLogprobs());
    node.put("truncation", settings.truncation());
    node.set("usage", response.usage() == null ? JSON.nullNode() : usage(response.usage()));
    node.put("user", settings.user());
    node.set("metadata", metadata(response.metadata()));
    return node;
  }

  /** Writes what is the same for all responses: what they ask for is refused, or does nothing. */
  private static void putDefaults(ObjectNode node) {
    node.put("presence_penalty", 0.0);
    node.put("frequency_penalty", 0.0);
    node.put("parallel_tool_calls", true);
    node.put("service_tier", "default");
    node.putObject("text").putObject("format").put("type", "text");
    node.put("tool_choice", "auto");
    node.putArray("tools");
  }

  private static void putConversation(ObjectNode node, String session) {
    if (ResponseIds.isConversation(session)) {
      node.putObject("conversation").put("id", session);
    } else {
      node.putNull("conversation");
    }
  }

  private static void putNumber(ObjectNode node, String field, Integer value) {
    if (value == null) {
      node.putNull(field);
    } else {
      node.put(field, value);
    }
  }

  private static boolean hasOutput(ResponseRecord response) {
    return response.status() == Status.COMPLETED
        || response.status() == Status.INCOMPLETE
        || !response.text().isEmpty();
  }

  private static JsonNode error(ResponseRecord.Failure failure) {
    return failure == null
        ? JSON.nullNode()
        : JSON.objectNode().put("code", failure.code()).put("message", failure.message());
  }

  /** Writes a response's output item as far as it is. */
  static ObjectNode reply(ResponseRecord response) {
    String status =
        switch (response.status()) {
          case COMPLETED -> "completed";
          case QUEUED, IN_PROGRESS -> "in_progress";
          default -> "incomplete";
        };
    ObjectNode item = message(response.itemId(), "assistant", status);
    item.putArray("content").add(outputText(response.text(), response.logprobs()));
    return item;
  }

  /** Writes the output item of a response that has no text yet. */
  static ObjectNode emptyReply(ResponseRecord response) {
    ObjectNode item = message(response.itemId(), "assistant", "in_progress");
    item.putArray("content");
    return item;
  }

  /** Writes a message of a turn, or a reply, as an item. */
  static ObjectNode item(String id, Message message) {
    ObjectNode item = message(id, message.role(), "completed");
    ArrayNode content = item.putArray("content");
    if (message.role().equals("assistant")) {
      content.add(outputText(message.content(), null));
    } else {
      content.addObject().put("type", "input_text").put("text", message.content());
    }
    return item;
  }

  private static ObjectNode message(String id, String role, String status) {
    return JSON.objectNode()
        .put("id", id)
        .put("type", "message")
        .put("status", status)
        .put("role", role);
  }

  /** Writes a content part with text that was generated. */
  static ObjectNode outputText(String text, List<TokenLogprob> logprobs) {
    ObjectNode part = JSON.objectNode();
    part.put("type", "output_text");
    part.put("text", text);
    part.putArray("annotations");
    part.set("logprobs", logprobs(logprobs, true));
    return part;
  }

  /**
   * Writes log probabilities.
   *
   * @param bytes whether to write tokens' bytes, which a part has and an event has not
   */
  static ArrayNode logprobs(List<TokenLogprob> logprobs, boolean bytes) {
    ArrayNode array = JSON.arrayNode();
    if (logprobs != null) {
      for (TokenLogprob token : logprobs) {
        ObjectNode node = array.addObject();
        put(node, token.token(), token.logprob(), bytes);
        ArrayNode top = node.putArray("top_logprobs");
        if (token.top() != null) {
          for (TopLogprob other : token.top()) {
            put(top.addObject(), other.token(), other.logprob(), bytes);
          }
        }
      }
    }
    return array;
  }

  private static void put(ObjectNode node, String token, float logprob, boolean withBytes) {
    node.put("token", token);
    node.put("logprob", logprob);
    if (withBytes) {
      ArrayNode bytes = node.putArray("bytes");
      for (byte b : token.getBytes(UTF_8)) {
        bytes.add(b & 0xFF);
      }
    }
  }

  /** Writes counts of tokens. */
  static ObjectNode usage(Usage usage) {
    ObjectNode node = JSON.objectNode();
    node.put("input_tokens", usage.promptTokens());
    ObjectNode details = node.putObject("input_tokens_details");
    details.put("cached_tokens", usage.cachedTokens());
    details.put("cache_write_tokens", usage.promptTokens() - usage.cachedTokens());
    TierUsage tiers = usage.tiers();
    if (!tiers.isNone()) {
      details.put("cached_host_tokens", tiers.hostTokens());
      details.put("cached_disk_tokens", tiers.diskTokens());
      details.put("cached_remote_tokens", tiers.remoteTokens());
    }
    node.put("output_tokens", usage.completionTokens());
    node.putObject("output_tokens_details").put("reasoning_tokens", 0);
    node.put("total_tokens", usage.promptTokens() + usage.completionTokens());
    return node;
  }

  /** Writes a conversation object. */
  static ObjectNode conversation(String id, Map<String, String> metadata) {
    ObjectNode node = JSON.objectNode();
    node.put("id", id);
    node.put("object", "conversation");
    node.put("created_at", ResponseIds.createdAt(id));
    node.set("metadata", metadata(metadata));
    return node;
  }

  /** Writes that something was deleted. */
  static ObjectNode deleted(String id, String object) {
    return JSON.objectNode().put("id", id).put("object", object).put("deleted", true);
  }

  private static ObjectNode metadata(Map<String, String> metadata) {
    ObjectNode node = JSON.objectNode();
    metadata.forEach(node::put);
    return node;
  }

  private static String name(Status status) {
    return status.name().toLowerCase(Locale.ROOT);
  }
}
