package io.radixflow.gateway.turn;

import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;

/**
 * Receives the progress of a turn. Called on the executor of its {@link Following}, one call at a
 * time.
 */
public interface TurnListener {

  /**
   * Called once, before any other method, when the job has the turn of a request that may have been
   * sent before. Not called if the turn is rejected now or fails, or for other turns.
   */
  default void found(TurnFound turn) {}

  /**
   * Called when more of the prompt is done, before the first piece. A paused listener gets only the
   * last of the calls that it missed.
   *
   * @param counts token counts of the prompt
   * @param timing timing of the turn so far
   */
  default void progress(Usage counts, TurnTiming timing) {}

  /**
   * Called once when the reply begins, before its first piece.
   *
   * @param counts token counts of the prompt and of the reply so far
   */
  default void started(Usage counts) {}

  /** Called with the next piece of the reply. Pieces follow each other without gap or overlap. */
  void piece(TurnPiece piece);

  /** Called when the turn has ended, even if it was rejected or failed. No further call follows. */
  void ended(TurnEnd end);

  /**
   * Called when the turn can no longer be followed here. It may still run, and a client can resume
   * it. No further call follows.
   */
  void failed(TurnFailure failure);
}
