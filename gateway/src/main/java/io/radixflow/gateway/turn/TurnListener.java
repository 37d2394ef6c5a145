package io.radixflow.gateway.turn;

import io.radixflow.operators.record.Usage;

/** Hears how a turn goes on; called on the executor of its {@link Following}, one at a time. */
public interface TurnListener {

  /**
   * The job has the turn of a request that may have been sent before. Called once, before anything
   * else, unless the turn is rejected now or fails; never for other turns.
   */
  default void found(TurnFound turn) {}

  /**
   * The reply begins. Called once, before its first piece.
   *
   * @param counts of the prompt, and of the reply so far
   */
  default void started(Usage counts) {}

  /** The reply goes on; pieces follow each other without gap or overlap. */
  void piece(TurnPiece piece);

  /** The turn ended, also if it was rejected or failed. Nothing follows. */
  void ended(TurnEnd end);

  /** The turn can no longer be followed here. It may go on, and be resumed. Nothing follows. */
  void failed(TurnFailure failure);
}
