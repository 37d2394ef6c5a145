package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Removes unknown fields from objects that requests and events have in common. An event refuses
 * unknown fields by name, but a client of an API may send fields that only other servers know.
 */
final class NestedFields {
  /** The known fields of an object, or of each object of an array, by path. */
  private static final Map<List<String>, Set<String>> KNOWN =
      Map.of(
          List.of("tools"), Set.of("type", "function"),
          List.of("tools", "function"), Set.of("name", "description", "parameters", "strict"),
          List.of("tool_choice"), Set.of("type", "function", "allowed_tools"),
          List.of("tool_choice", "function"), Set.of("name"),
          List.of("response_format"), Set.of("type", "json_schema"),
          List.of("response_format", "json_schema"),
              Set.of("name", "description", "schema", "strict"),
          List.of("prediction"), Set.of("type", "content"),
          List.of("prediction", "content"), Set.of("type", "text"),
          List.of("stream_options"), Set.of("include_usage", "continuous_usage_stats"));

  private final Consumer<String> notice;

  private NestedFields(Consumer<String> notice) {
    this.notice = notice;
  }

  /**
   * Removes unknown fields.
   *
   * @param notice receives the path of each removed field that has a meaning
   */
  static void leaveOut(ObjectNode body, Consumer<String> notice) {
    NestedFields fields = new NestedFields(notice);
    KNOWN.forEach((path, known) -> fields.visit(body, "", path, known));
  }

  private void visit(JsonNode value, String at, List<String> path, Set<String> known) {
    if (value == null) {
      return;
    }
    if (value.isArray()) {
      for (int i = 0; i < value.size(); i++) {
        visit(value.get(i), at + "[" + i + "]", path, known);
      }
    } else if (value instanceof ObjectNode object) {
      String prefix = at.isEmpty() ? "" : at + ".";
      if (!path.isEmpty()) {
        String field = path.get(0);
        visit(object.get(field), prefix + field, path.subList(1, path.size()), known);
        return;
      }
      for (Iterator<String> names = object.fieldNames(); names.hasNext(); ) {
        String name = names.next();
        if (!known.contains(name)) {
          if (!object.get(name).isNull()) {
            notice.accept(prefix + name);
          }
          names.remove();
        }
      }
    }
  }
}
