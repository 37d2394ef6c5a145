package io.radixflow.gateway.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.json.JsonObject;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Reads the format of a reply in APIs that differ from chat completions. */
public final class JsonFormat {

  private static final Set<String> FIELDS =
      Set.of("type", "name", "description", "schema", "strict");

  private JsonFormat() {}

  /**
   * Adds the format to the fields of an event.
   *
   * @param format the object with the format, or null for none
   * @param types the types that the API has
   * @param options fields of an event, which receive the format
   * @param notice receives the path of each ignored field
   */
  public static void read(
      JsonObject format, List<String> types, ObjectNode options, Consumer<String> notice) {
    if (format == null) {
      return;
    }
    String type = format.require("type").text("type");
    if (!types.contains(type)) {
      throw JsonObject.notOneOf(format.path("type"), type, types);
    }
    format.leaveOut(FIELDS, notice);
    ObjectNode form = options.putObject("response_format").put("type", type);
    if (type.equals("json_schema")) {
      format.require("schema").object("schema");
      ObjectNode schema = Json.object();
      schema.put("name", format.text("name")).put("description", format.text("description"));
      schema.set("schema", format.get("schema"));
      schema.put("strict", format.bool("strict"));
      schema.properties().removeIf(field -> field.getValue().isNull());
      form.set("json_schema", schema);
    }
  }
}
