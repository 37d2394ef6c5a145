package io.radixflow.lab.workload;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * What the job answered to a turn, as far as later prompts depend on it.
 *
 * @param text the reply's text
 * @param finish finish reason
 * @param droppedTurns oldest turns that its prompt left out
 * @param promptTokens tokens of its prompt
 * @param cachedTokens of those, from the job's cache
 */
record GivenReply(
    String text, String finish, int droppedTurns, long promptTokens, long cachedTokens) {

  /** What a turn is taken to have been answered of which no reply is at hand. */
  static final GivenReply MISSING = new GivenReply("", "stop", 0, 0, 0);

  static boolean recognises(JsonNode record) {
    return record.has("session") && record.has("choices");
  }

  /** Reads {@code schema/reply.schema.json}. */
  static GivenReply of(WorkloadLine line) throws WorkloadException {
    JsonNode choice = line.array("choices").path(0);
    JsonNode text = choice.path("message").path("content");
    JsonNode finish = choice.path("finish_reason");
    if (!text.isTextual() || !finish.isTextual()) {
      throw line.error("a reply has 'choices' with 'message.content' and 'finish_reason'");
    }
    JsonNode usage = line.json().path("usage");
    return new GivenReply(
        text.textValue(),
        finish.textValue(),
        Math.max(0, line.json().path("dropped_turns").asInt()),
        Math.max(0, usage.path("prompt_tokens").asLong()),
        Math.max(0, usage.path("prompt_tokens_details").path("cached_tokens").asLong()));
  }

  /** Whether the turn never ran. */
  boolean isRejected() {
    return finish.equals("rejected");
  }

  /** Whether the turn becomes part of the conversation, as in the serving operator. */
  boolean isRemembered() {
    return switch (finish) {
      case "stop", "length", "tool_calls" -> true;
      case "cancelled" -> !text.isEmpty();
      default -> false;
    };
  }
}
