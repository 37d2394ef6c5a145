package io.radixflow.protocol.topic;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.radixflow.protocol.event.GenerationOptionsReader;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.json.WrittenNumbers;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.TokenOptions;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Writes Java records as JSON objects in UTF-8 and reads them back. Names are in snake case, nulls
 * are left out, and every written string is well-formed. Unknown fields are ignored.
 */
public final class JsonRecords {

  /** Stands for a log probability of minus infinity, as in the OpenAI API. */
  private static final float NO_CHANCE = -9999f;

  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .serializationInclusion(JsonInclude.Include.NON_NULL)
          .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .addMixIn(Reply.TokenLogprob.class, ReplyFields.TokenNames.class)
          .addMixIn(GenerationOptions.class, RawOptions.class)
          .addMixIn(TokenOptions.class, TokenOptionNames.class)
          .addModule(
              new SimpleModule()
                  .addSerializer(String.class, new WellFormed())
                  .addDeserializer(GenerationOptions.class, new Options())
                  .addSerializer(float.class, new Logprob()))
          .build();

  private JsonRecords() {}

  /** Options that are JSON texts. */
  private interface RawOptions {
    @JsonRawValue
    String tools();

    @JsonRawValue
    String chatTemplateKwargs();

    @JsonRawValue
    String responseFormat();

    @JsonRawValue
    String structuredOutputs();

    @JsonSerialize(using = Prediction.class)
    String prediction();

    @JsonSerialize(using = ToolChoice.class)
    String toolChoice();

    @JsonUnwrapped
    TokenOptions tokens();
  }

  /** Renames options to the names of other services. */
  private interface TokenOptionNames {
    @JsonProperty("include_stop_str_in_output")
    Boolean includeStop();
  }

  /** Writes the name of a choice, or the JSON object that names a function. */
  private static final class ToolChoice extends JsonSerializer<String> {
    @Override
    public void serialize(String value, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      if (value.startsWith("{")) {
        json.writeRawValue(value);
      } else {
        json.writeString(value);
      }
    }
  }

  /** Writes a predicted text in the form of the OpenAI API. */
  private static final class Prediction extends JsonSerializer<String> {
    @Override
    public void serialize(String text, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      json.writeStartObject();
      json.writeStringField("type", "content");
      json.writeStringField("content", Texts.wellFormed(text));
      json.writeEndObject();
    }
  }

  /** Reads options as an event has them. */
  private static final class Options extends JsonDeserializer<GenerationOptions> {
    @Override
    public GenerationOptions deserialize(JsonParser json, DeserializationContext context)
        throws IOException {
      try {
        return GenerationOptionsReader.read(
            JsonObject.of(WrittenNumbers.next(MAPPER, json), "options"), true);
      } catch (InvalidInputException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
  }

  /** Writes the fields of an object. */
  public interface Body {
    void write(JsonGenerator json) throws IOException;
  }

  private static final class WellFormed extends JsonSerializer<String> {
    @Override
    public void serialize(String value, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      json.writeString(Texts.wellFormed(value));
    }
  }

  private static final class Logprob extends JsonSerializer<Float> {
    @Override
    public void serialize(Float value, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      json.writeNumber(Float.isFinite(value) ? value : NO_CHANCE);
    }
  }

  public static byte[] write(Object record) {
    try {
      return MAPPER.writeValueAsBytes(record);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("cannot write " + record.getClass() + " as JSON", e);
    }
  }

  /**
   * Writes one object field by field, which is faster than {@link #write(Object)}; {@link
   * JsonGenerator#writePOJOField} writes records as that does.
   */
  public static byte[] write(Body body) {
    try (ByteArrayBuilder bytes = new ByteArrayBuilder()) {
      try (JsonGenerator json = MAPPER.createGenerator(bytes)) {
        json.writeStartObject();
        body.write(json);
        json.writeEndObject();
      }
      return bytes.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
  }

  /**
   * @throws IOException if the value is not a JSON object, or a field has another type
   */
  static <T> T read(byte[] value, Class<T> type) throws IOException {
    T record = value == null ? null : MAPPER.readValue(value, type);
    if (record == null) {
      throw new IOException("the record is not a JSON object");
    }
    return record;
  }

  /** Writes a string field, unless it is null. */
  static void text(JsonGenerator json, String name, String value) throws IOException {
    if (value != null) {
      json.writeStringField(name, Texts.wellFormed(value));
    }
  }
}
