package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;

/**
 * Shows the speed of a prompt and its reply in the fields of llama.cpp.
 *
 * @param perToken whether each piece of a stream has timings, not only the last piece
 * @param progress whether a stream shows how many tokens of its prompt are done
 */
record Timings(boolean perToken, boolean progress) {

  /** Reads the fields. Removes the fields that the job does not need. */
  static Timings read(JsonObject body, ObjectNode raw) {
    boolean stream = body.bool("stream", false);
    boolean perToken = body.bool("timings_per_token", false) && stream;
    boolean progress = body.bool("return_progress", false) && stream;
    raw.remove("timings_per_token");
    if (!progress) {
      raw.remove("return_progress");
    }
    return new Timings(perToken, progress);
  }

  /** Adds the timings of a whole reply; nothing if they are not known. */
  static void add(ObjectNode json, TurnEnd end) {
    TurnTiming timing = end.timing();
    if (timing != null) {
      add(json, end.usage(), timing, end.usage().completionTokens(), timing.reply());
    }
  }

  /**
   * Adds the speed of a prompt and its reply so far.
   *
   * @param counts token counts of the prompt
   * @param predicted number of generated tokens
   * @param millis milliseconds since the first generated token
   */
  static void add(ObjectNode json, Usage counts, TurnTiming timing, int predicted, double millis) {
    ObjectNode timings = json.putObject("timings").put("cache_n", counts.cachedTokens());
    addPart(timings, "prompt", counts.promptTokens() - counts.cachedTokens(), timing.prompt());
    addPart(timings, "predicted", predicted, millis);
  }

  /** Adds null for a division by zero, as llama.cpp does. */
  private static void addPart(ObjectNode json, String name, int tokens, double millis) {
    json.put(name + "_n", tokens).put(name + "_ms", millis);
    json.put(name + "_per_token_ms", tokens > 0 ? (Double) (millis / tokens) : null);
    json.put(name + "_per_second", millis > 0 ? (Double) (tokens * 1000.0 / millis) : null);
  }

  /**
   * Adds the progress of a prompt.
   *
   * @param done tokens that were cached or have been computed
   * @param millis milliseconds since the prompt was admitted
   */
  static void addProgress(ObjectNode json, Usage counts, int done, long millis) {
    json.putObject("prompt_progress")
        .put("total", counts.promptTokens())
        .put("cache", counts.cachedTokens())
        .put("processed", done)
        .put("time_ms", millis);
  }
}
