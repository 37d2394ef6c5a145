package io.radixflow.gateway.chat;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Measures how fast the reply of one choice arrives, from its first piece on. */
final class ReplySpeed implements Json.Fields {

  private final Usage counts;
  private final TurnTiming timing;
  private final long begun = System.nanoTime();
  private int tokens;

  /**
   * @param counts of the prompt
   * @param timing of the turn so far
   */
  ReplySpeed(Usage counts, TurnTiming timing) {
    this.counts = counts;
    this.timing = timing;
  }

  /** Counts generated tokens. */
  void add(int more) {
    tokens += more;
  }

  @Override
  public void write(JsonGenerator json) throws IOException {
    double since = (System.nanoTime() - begun) / (double) TimeUnit.MILLISECONDS.toNanos(1);
    Timings.write(json, counts, timing, tokens, timing.reply() + since);
  }
}
