package io.radixflow.operators.flink.turn.end;

import io.radixflow.operators.prompt.ReplyParts;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.TurnPlan;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.Usage;

/** A turn that the engine worked on, as the classes that end it see it. */
public interface TurnResult {
  PendingTurn pending();

  TurnPlan plan();

  /** Returns the prompt; null if it was not made. */
  Prompt prompt();

  /** Returns the ids of all tokens that were generated. */
  int[] tokens();

  /** Returns the generated text; the parts are read from it. */
  String text();

  /** Returns the parts of the text. */
  ReplyParts parts();

  Usage usage();

  /** Returns the stop text that ended the reply; null for none. */
  String stopReason();

  /** Returns when the turn ended, in milliseconds since the epoch; 0 if it has not ended. */
  long endedMillis();

  /** Returns whether the state has progress of the turn. */
  boolean isSaved();

  /**
   * Returns the finish reason as records have it. A reply that ends with tool calls has a reason of
   * its own.
   */
  default String finish(FinishReason reason) {
    boolean calls = reason == FinishReason.STOP && parts().calls();
    return (calls ? FinishReason.TOOL_CALLS : reason).wireName();
  }
}
