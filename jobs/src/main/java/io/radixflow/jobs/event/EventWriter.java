package io.radixflow.jobs.event;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.jobs.json.Texts;
import io.radixflow.operators.record.CacheHints;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.record.RetentionRange;
import java.io.IOException;
import java.util.Map;

/** Writes events as {@code schema/conversation-event.schema.json} has them. */
public final class EventWriter {

  private EventWriter() {}

  /** The record's value: what {@link EventParser} reads back as an equal event. */
  public static byte[] write(ConversationEvent event) {
    return JsonBytes.object(
        json -> {
          JsonBytes.type(json, event.kind());
          JsonBytes.text(json, "session", event.session());
          if (!ConversationEvent.MAIN_BRANCH.equals(event.branch())) {
            JsonBytes.text(json, "branch", event.branch());
          }
          JsonBytes.text(json, "turn", event.turn());
          JsonBytes.text(json, "new_branch", event.newBranch());
          JsonBytes.text(json, "at_turn", event.atTurn());
          given(json, "tenant", event.tenant());
          given(json, "cache_salt", event.cacheSalt());
          messages(json, event);
          if (event.options() != null) {
            options(json, event.options());
          }
          if (event.replace()) {
            json.writeBooleanField("replace", true);
          }
          if (event.cache() != null) {
            cache(json, event.cache());
          }
        });
  }

  private static void given(JsonGenerator json, String name, String value) throws IOException {
    if (value != null && !value.isEmpty()) {
      JsonBytes.text(json, name, value);
    }
  }

  private static void messages(JsonGenerator json, ConversationEvent event) throws IOException {
    boolean none = event.messages() == null || event.messages().isEmpty();
    if (none && event.kind() != EventKind.MESSAGE) {
      return;
    }
    json.writeArrayFieldStart("messages");
    if (!none) {
      for (Message message : event.messages()) {
        json.writeStartObject();
        JsonBytes.text(json, "role", message.role());
        JsonBytes.text(json, "content", message.content());
        json.writeEndObject();
      }
    }
    json.writeEndArray();
  }

  private static void options(JsonGenerator json, GenerationOptions options) throws IOException {
    number(json, "temperature", options.temperature());
    number(json, "top_k", options.topK());
    number(json, "top_p", options.topP());
    number(json, "min_p", options.minP());
    number(json, "repetition_penalty", options.repetitionPenalty());
    number(json, "presence_penalty", options.presencePenalty());
    number(json, "frequency_penalty", options.frequencyPenalty());
    if (options.logitBias() != null) {
      json.writeObjectFieldStart("logit_bias");
      for (Map.Entry<Integer, Double> bias : options.logitBias().entrySet()) {
        json.writeNumberField(bias.getKey().toString(), bias.getValue());
      }
      json.writeEndObject();
    }
    number(json, "max_tokens", options.maxTokens());
    if (options.stop() != null) {
      json.writeArrayFieldStart("stop");
      for (String stop : options.stop()) {
        json.writeString(Texts.wellFormed(stop));
      }
      json.writeEndArray();
    }
    number(json, "seed", options.seed());
    if (options.logprobs() != null) {
      json.writeBooleanField("logprobs", options.logprobs());
    }
    number(json, "top_logprobs", options.topLogprobs());
    number(json, "priority", options.priority());
  }

  private static void cache(JsonGenerator json, CacheHints hints) throws IOException {
    json.writeObjectFieldStart("cache");
    json.writeBooleanField("no_store", hints.noStore());
    json.writeNumberField("pin_ms", hints.pinMillis());
    json.writeArrayFieldStart("retention");
    for (RetentionRange range : hints.retention()) {
      json.writeStartObject();
      json.writeNumberField("token_start", range.tokenStart());
      if (range.tokenEnd() != Integer.MAX_VALUE) {
        json.writeNumberField("token_count", range.tokenEnd() - range.tokenStart());
      }
      worth(json, range);
      json.writeEndObject();
    }
    json.writeEndArray();
    if (hints.generated() != null) {
      json.writeObjectFieldStart("generated");
      worth(json, hints.generated());
      json.writeEndObject();
    }
    json.writeEndObject();
  }

  private static void worth(JsonGenerator json, RetentionRange range) throws IOException {
    json.writeNumberField("priority", range.priority());
    json.writeNumberField("duration_ms", range.durationMillis());
  }

  private static void number(JsonGenerator json, String name, Number value) throws IOException {
    if (value instanceof Double real) {
      json.writeNumberField(name, real);
    } else if (value != null) {
      json.writeNumberField(name, value.longValue());
    }
  }
}
