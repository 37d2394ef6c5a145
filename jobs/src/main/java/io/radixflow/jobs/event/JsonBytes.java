package io.radixflow.jobs.event;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import io.radixflow.jobs.json.Texts;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.TierUsage;
import io.radixflow.operators.record.Usage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;

/** Writes one JSON object as UTF-8, every string well-formed. */
final class JsonBytes {

  private static final JsonFactory FACTORY = new JsonFactory();

  private JsonBytes() {}

  /** Writes the fields of an object. */
  interface Body {
    void write(JsonGenerator json) throws IOException;
  }

  static byte[] object(Body body) {
    try (ByteArrayBuilder bytes = new ByteArrayBuilder()) {
      try (JsonGenerator json = FACTORY.createGenerator(bytes)) {
        json.writeStartObject();
        body.write(json);
        json.writeEndObject();
      }
      return bytes.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
  }

  /** Writes a string field, unless it is null. */
  static void text(JsonGenerator json, String name, String value) throws IOException {
    if (value != null) {
      json.writeStringField(name, Texts.wellFormed(value));
    }
  }

  /** Writes {@code type}, unless the event's type could not be read. */
  static void type(JsonGenerator json, EventKind kind) throws IOException {
    if (kind != null) {
      json.writeStringField("type", kind.name().toLowerCase(Locale.ROOT));
    }
  }

  /** Writes {@code error} with its message, unless it is null. */
  static void error(JsonGenerator json, String message) throws IOException {
    if (message != null) {
      json.writeObjectFieldStart("error");
      text(json, "message", message);
      json.writeEndObject();
    }
  }

  static void usage(JsonGenerator json, Usage usage) throws IOException {
    int prompt = usage.promptTokens();
    int completion = usage.completionTokens();
    TierUsage tiers = usage.tiers();
    json.writeObjectFieldStart("usage");
    json.writeNumberField("prompt_tokens", prompt);
    json.writeNumberField("completion_tokens", completion);
    json.writeNumberField("total_tokens", (long) prompt + completion);
    json.writeObjectFieldStart("prompt_tokens_details");
    json.writeNumberField("cached_tokens", usage.cachedTokens());
    if (!tiers.isNone()) {
      json.writeNumberField("cached_host_tokens", tiers.hostTokens());
      json.writeNumberField("cached_disk_tokens", tiers.diskTokens());
      json.writeNumberField("cached_remote_tokens", tiers.remoteTokens());
      json.writeNumberField("tier_micros", tiers.micros());
    }
    json.writeEndObject();
    json.writeEndObject();
  }
}
