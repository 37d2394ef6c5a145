package io.radixflow.gateway.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.protocol.json.JsonObject;
import java.util.List;
import java.util.function.Consumer;

/** Reads {@code thinking}, which switches reasoning on or off and limits it. */
public final class Thinking {
  private static final List<String> TYPES = List.of("enabled", "disabled", "adaptive");
  private static final String KWARGS = "chat_template_kwargs";
  private static final String BUDGET = "thinking_token_budget";

  private Thinking() {}

  /**
   * Makes the chat template switch reasoning on or off, if the template can. The engine ends
   * reasoning that exceeds its budget; the budget is 0 if reasoning is off.
   *
   * @param thinking may be null
   * @param options receives the fields of an event; fields that are already set are kept
   * @param notice receives the path of each ignored field
   */
  public static void read(JsonObject thinking, ObjectNode options, Consumer<String> notice) {
    if (thinking == null) {
      return;
    }
    String type = thinking.require("type").text("type");
    if (!TYPES.contains(type)) {
      throw JsonObject.notOneOf(thinking.path("type"), type, TYPES);
    }
    Long given = thinking.integer("budget_tokens", 0, Integer.MAX_VALUE);
    Long budget = type.equals("disabled") ? Long.valueOf(0) : given;
    boolean same = options.hasNonNull(KWARGS);
    if (!type.equals("adaptive") && (!same || options.get(KWARGS).isObject())) {
      ObjectNode variables = same ? (ObjectNode) options.get(KWARGS) : options.putObject(KWARGS);
      if (!variables.has("enable_thinking")) {
        variables.put("enable_thinking", type.equals("enabled"));
      }
    }
    if (budget != null && !options.hasNonNull(BUDGET)) {
      options.put(BUDGET, budget);
    }
    thinking.leaveOut(List.of("type", "budget_tokens"), notice);
  }
}
