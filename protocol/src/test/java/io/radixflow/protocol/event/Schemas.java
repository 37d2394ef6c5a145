package io.radixflow.protocol.event;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Set;

/** The schema files, as a validator that is not ours reads them. */
public final class Schemas {

  public static final ObjectMapper MAPPER = new ObjectMapper();
  public static final JsonSchema EVENT = load("conversation-event");
  public static final JsonSchema REPLY = load("reply");
  public static final JsonSchema DELTA = load("reply-delta");
  public static final JsonSchema DEAD_LETTER = load("dead-letter");
  public static final JsonSchema CONTROL = load("control-event");
  public static final JsonSchema KV_EVENT = load("kv-event");

  private Schemas() {}

  public static Set<ValidationMessage> check(JsonSchema schema, byte[] json) {
    return schema.validate(tree(json));
  }

  public static JsonNode tree(byte[] json) {
    try {
      return MAPPER.readTree(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JsonSchema load(String name) {
    SchemaValidatorsConfig config =
        SchemaValidatorsConfig.builder().losslessNarrowing(true).build();
    return JsonSchemaFactory.getInstance(
            SpecVersion.VersionFlag.V202012,
            builder ->
                builder.schemaMappers(
                    mappers ->
                        mappers.mapPrefix("https://radixflow.io/schema/", "classpath:schema/")))
        .getSchema(
            SchemaLocation.of("https://radixflow.io/schema/" + name + ".schema.json"), config);
  }
}
