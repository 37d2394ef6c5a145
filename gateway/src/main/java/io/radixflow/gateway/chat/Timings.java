package io.radixflow.gateway.chat;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import java.io.IOException;

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

  /** Writes the timings of a whole reply; nothing if they are not known. */
  static void write(JsonGenerator json, TurnEnd end) throws IOException {
    TurnTiming timing = end.timing();
    if (timing != null) {
      write(json, end.usage(), timing, end.usage().completionTokens(), timing.reply());
    }
  }

  /**
   * Writes the speed of a prompt and its reply so far.
   *
   * @param counts token counts of the prompt
   * @param predicted number of generated tokens
   * @param millis milliseconds since the first generated token
   */
  static void write(
      JsonGenerator json, Usage counts, TurnTiming timing, int predicted, double millis)
      throws IOException {
    json.writeObjectFieldStart("timings");
    json.writeNumberField("cache_n", counts.cachedTokens());
    part(json, "prompt", counts.promptTokens() - counts.cachedTokens(), timing.prompt());
    part(json, "predicted", predicted, millis);
    json.writeEndObject();
  }

  private static void part(JsonGenerator json, String name, int tokens, double millis)
      throws IOException {
    json.writeNumberField(name + "_n", tokens);
    json.writeNumberField(name + "_ms", millis);
    ratio(json, name + "_per_token_ms", millis, tokens);
    ratio(json, name + "_per_second", tokens * 1000.0, millis);
  }

  /** Writes null for a division by zero, as llama.cpp does. */
  private static void ratio(JsonGenerator json, String name, double of, double to)
      throws IOException {
    if (to > 0) {
      json.writeNumberField(name, of / to);
    } else {
      json.writeNullField(name);
    }
  }

  /**
   * Writes the progress of a prompt.
   *
   * @param done tokens that were cached or have been computed
   * @param millis milliseconds since the prompt was admitted
   */
  static void progress(JsonGenerator json, Usage counts, int done, long millis) throws IOException {
    json.writeObjectFieldStart("prompt_progress");
    json.writeNumberField("total", counts.promptTokens());
    json.writeNumberField("cache", counts.cachedTokens());
    json.writeNumberField("processed", done);
    json.writeNumberField("time_ms", millis);
    json.writeEndObject();
  }
}
