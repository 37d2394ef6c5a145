package io.radixflow.gateway.api;

import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.TurnStream;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;

/** Answers a request while the turns of its choices run. Called on the exchange's event loop. */
public interface ApiOutput {

  /** Begins. The output pauses the turns while the client is slow. */
  void begin(TurnStream turns);

  /**
   * The request was sent before, or could have been.
   *
   * @param created when it was first sent, seconds since the epoch
   */
  default void created(long created) {}

  /**
   * More of the prompt of a choice is done. Called before the first piece of the choice, if at all.
   *
   * @param counts of the prompt
   * @param timing of the turn so far
   */
  default void progress(int choice, Usage counts, TurnTiming timing) {}

  /**
   * The reply of a choice begins, before its first piece.
   *
   * @param counts of the prompt, and of the reply so far
   */
  default void started(int choice, Usage counts) {}

  /** The next piece of a choice's reply has come. */
  void piece(int choice, TurnPiece piece);

  /** A choice ended, even if it was rejected or failed. */
  void ended(int choice, TurnEnd end);

  /** A choice can no longer be followed. */
  void failed(TurnFailure failure);
}
