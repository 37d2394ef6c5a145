package io.radixflow.gateway.chat;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.record.Usage;
import java.io.IOException;

/** Counts the tokens of one choice while it streams. Writes the counts so far. */
final class GrowingUsage implements Json.Fields {

  private int prompt;
  private int reply;

  /**
   * Sets the size of the prompt.
   *
   * @param counts of the turn
   */
  void begin(Usage counts) {
    prompt = counts.promptTokens();
  }

  /** Counts generated tokens. */
  void add(int more) {
    reply += more;
  }

  /** Sets the counts of the whole choice. */
  void end(Usage counts) {
    prompt = counts.promptTokens();
    reply = counts.completionTokens();
  }

  @Override
  public void write(JsonGenerator json) throws IOException {
    json.writeObjectFieldStart("usage");
    CompletionJson.counts(json, prompt, reply);
    json.writeEndObject();
  }
}
