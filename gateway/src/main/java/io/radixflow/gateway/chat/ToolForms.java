package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;

/** Converts tools and their choice from the forms of other servers to the form of events. */
final class ToolForms {
  private static final Set<String> CHOICES = Set.of("auto", "none", "required");

  private ToolForms() {}

  /** Adds the type to functions without a type, and converts a choice that names only a type. */
  static void unify(ObjectNode body) {
    for (JsonNode tool : body.path("tools")) {
      if (tool.path("function").isObject() && !tool.hasNonNull("type")) {
        ((ObjectNode) tool).put("type", "function");
      }
    }
    JsonNode choice = body.path("tool_choice");
    if (choice.size() == 1 && CHOICES.contains(choice.path("type").asText())) {
      body.set("tool_choice", choice.get("type"));
    }
  }
}
