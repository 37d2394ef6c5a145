package io.radixflow.gateway.turn;

import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;

/**
 * Receives the progress of a turn. Called on the executor of its {@link Following}, one call at a
 * time.
 */
public interface TurnListener {

  /**
   * The job has the turn of a request that may have been sent before. Called once, before any other
   * method, unless the turn is rejected now or fails. Never called for other turns.
   */
  default void found(TurnFound turn) {}

  /**
   * More of the prompt is done. Called before the first piece, if at all. A listener that pauses
   * gets only the last of the calls that it missed.
   *
   * @param counts of the prompt
   * @param timing of the turn so far
   */
  default void progress(Usage counts, TurnTiming timing) {}

  /**
   * The reply begins. Called once, before its first piece.
   *
   * @param counts of the prompt, and of the reply so far
   */
  default void started(Usage counts) {}

  /** The reply continues. Pieces follow each other without gap or overlap. */
  void piece(TurnPiece piece);

  /** The turn ended, even if it was rejected or failed. No further call follows. */
  void ended(TurnEnd end);

  /**
   * The turn can no longer be followed here. It may still run, and a client can resume it. No
   * further call follows.
   */
  void failed(TurnFailure failure);
}
