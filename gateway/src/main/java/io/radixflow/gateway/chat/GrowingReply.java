package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.api.UsageJson;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import java.util.concurrent.TimeUnit;

/** Counts the tokens of one choice while it streams, and measures how fast they arrive. */
final class GrowingReply {

  private Usage counts = Usage.NONE;
  private int tokens;

  /** The timing of the turn at its start; null until it is known. */
  private TurnTiming timing;

  private long begun;

  /** Sets the counts of the prompt. */
  void begin(Usage prompt) {
    counts = prompt;
  }

  /**
   * Starts measuring the speed.
   *
   * @param soFar the timing of the turn
   */
  void measure(TurnTiming soFar) {
    timing = soFar;
    begun = System.nanoTime();
  }

  /** Counts generated tokens. */
  void add(int more) {
    tokens += more;
  }

  /** Sets the counts of the whole choice. */
  void end(Usage whole) {
    counts = whole;
    tokens = whole.completionTokens();
  }

  void addUsage(ObjectNode json) {
    json.set("usage", UsageJson.ofCompletion(counts.promptTokens(), tokens));
  }

  /** Adds the timings so far; nothing if they are not known. */
  void addSpeed(ObjectNode json) {
    if (timing != null) {
      double since = (System.nanoTime() - begun) / (double) TimeUnit.MILLISECONDS.toNanos(1);
      Timings.add(json, counts, timing, tokens, timing.reply() + since);
    }
  }
}
