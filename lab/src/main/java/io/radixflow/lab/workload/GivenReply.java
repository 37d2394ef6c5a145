package io.radixflow.lab.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.jobs.json.JsonObject;

/**
 * The job's reply to a turn, as far as later prompts depend on it.
 *
 * @param text the reply's text
 * @param finish finish reason
 * @param droppedTurns oldest turns that its prompt left out
 * @param promptTokens tokens of its prompt
 * @param cachedTokens of those, from the job's cache
 */
record GivenReply(
    String text, String finish, int droppedTurns, long promptTokens, long cachedTokens) {

  private static final int MAX_CHOICES = 1000;

  /** Stands for the reply of a turn whose reply is not in the files. */
  static final GivenReply MISSING = new GivenReply("", "stop", 0, 0, 0);

  static boolean recognises(JsonObject record) {
    return record.has("session") && record.has("choices");
  }

  /** Reads {@code schema/reply.schema.json}. */
  static GivenReply of(WorkloadLine line) throws WorkloadException {
    JsonObject fields = line.fields();
    JsonNode choice = fields.require("choices").array("choices", "choices", MAX_CHOICES).path(0);
    JsonNode text = choice.path("message").path("content");
    JsonNode finish = choice.path("finish_reason");
    if (!text.isTextual() || !finish.isTextual()) {
      throw line.error("a reply has choices with message.content and finish_reason");
    }
    JsonObject usage = fields.object("usage");
    JsonObject details = usage == null ? null : usage.object("prompt_tokens_details");
    return new GivenReply(
        text.textValue(),
        finish.textValue(),
        Math.max(0, fields.integer("dropped_turns", 0)),
        usage == null ? 0 : usage.integer("prompt_tokens", 0, Integer.MAX_VALUE, 0),
        details == null ? 0 : details.integer("cached_tokens", 0, Integer.MAX_VALUE, 0));
  }

  /** Returns true if the turn never ran. */
  boolean isRejected() {
    return finish.equals("rejected");
  }

  /** Returns true if the turn becomes part of the conversation, as in the serving operator. */
  boolean isRemembered() {
    return switch (finish) {
      case "stop", "length", "tool_calls" -> true;
      case "cancelled" -> !text.isEmpty();
      default -> false;
    };
  }
}
