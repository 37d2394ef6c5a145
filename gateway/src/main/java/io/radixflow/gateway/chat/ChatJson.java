package io.radixflow.gateway.chat;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.gateway.http.Json;
import io.radixflow.operators.record.Usage;
import java.io.IOException;

/**
 * Writes chat completions.
 *
 * @param id names the completion
 * @param created seconds since the epoch
 */
record ChatJson(String id, long created, String model) {

  /** The whole completion. */
  byte[] completion(String text, String finishReason, Usage usage) {
    return Json.write(
        json -> {
          head(json, "chat.completion");
          json.writeArrayFieldStart("choices");
          json.writeStartObject();
          json.writeNumberField("index", 0);
          json.writeObjectFieldStart("message");
          json.writeStringField("role", "assistant");
          json.writeStringField("content", text);
          json.writeNullField("refusal");
          json.writeEndObject();
          json.writeNullField("logprobs");
          json.writeStringField("finish_reason", finishReason(finishReason));
          json.writeEndObject();
          json.writeEndArray();
          usage(json, usage);
        });
  }

  /**
   * A piece of a streamed completion.
   *
   * @param first whether it names the role
   * @param text may be null
   * @param finishReason in the last piece, else null
   * @param usages whether the stream has counts of tokens, so that this piece has null for them
   */
  byte[] chunk(boolean first, String text, String finishReason, boolean usages) {
    return Json.write(
        json -> {
          head(json, "chat.completion.chunk");
          json.writeArrayFieldStart("choices");
          json.writeStartObject();
          json.writeNumberField("index", 0);
          json.writeObjectFieldStart("delta");
          if (first) {
            json.writeStringField("role", "assistant");
          }
          if (text != null) {
            json.writeStringField("content", text);
          }
          json.writeEndObject();
          json.writeNullField("logprobs");
          json.writeStringField("finish_reason", finishReason(finishReason));
          json.writeEndObject();
          json.writeEndArray();
          if (usages) {
            json.writeNullField("usage");
          }
        });
  }

  /** The last event of a stream with counts of tokens. */
  byte[] usageChunk(Usage usage) {
    return Json.write(
        json -> {
          head(json, "chat.completion.chunk");
          json.writeArrayFieldStart("choices");
          json.writeEndArray();
          usage(json, usage);
        });
  }

  private void head(JsonGenerator json, String object) throws IOException {
    json.writeStringField("id", id);
    json.writeStringField("object", object);
    json.writeNumberField("created", created);
    json.writeStringField("model", model);
  }

  /** OpenAI has no word for a reply that was cut: it ends as one that reached a limit. */
  private static String finishReason(String reason) {
    return "cancelled".equals(reason) || "replaced".equals(reason) ? "length" : reason;
  }

  static void usage(JsonGenerator json, Usage usage) throws IOException {
    json.writeObjectFieldStart("usage");
    json.writeNumberField("prompt_tokens", usage.promptTokens());
    json.writeNumberField("completion_tokens", usage.completionTokens());
    json.writeNumberField("total_tokens", usage.promptTokens() + usage.completionTokens());
    json.writeObjectFieldStart("prompt_tokens_details");
    json.writeNumberField("cached_tokens", usage.cachedTokens());
    json.writeEndObject();
    json.writeObjectFieldStart("completion_tokens_details");
    json.writeNumberField("reasoning_tokens", 0);
    json.writeEndObject();
    json.writeEndObject();
  }
}
