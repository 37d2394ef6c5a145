package io.radixflow.gateway.chat;

import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.TurnStream;
import io.radixflow.operators.record.Usage;

/** Answers a request as the turns of its choices go on. Called on the exchange's event loop. */
public interface ChatOutput {

  /** Begins; the turns are held back while the client is slow. */
  void begin(TurnStream turns);

  /**
   * The request was sent before, or could have been.
   *
   * @param created when it was first sent, seconds since the epoch
   */
  default void created(long created) {}

  /**
   * The reply of a choice begins, before its first piece.
   *
   * @param counts of the prompt, and of the reply so far
   */
  default void started(int choice, Usage counts) {}

  /** The reply of a choice goes on. */
  void piece(int choice, TurnPiece piece);

  /** A choice ended, also if it was rejected or failed. */
  void ended(int choice, TurnEnd end);

  /** A choice can no longer be followed. */
  void failed(TurnFailure failure);
}
