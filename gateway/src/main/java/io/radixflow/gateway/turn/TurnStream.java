package io.radixflow.gateway.turn;

/** A followed turn. Thread-safe. */
public interface TurnStream {

  /** Keeps pieces, joined into one, until {@link #resume()}. */
  void pause();

  /** Passes on the kept pieces and all further pieces. */
  void resume();

  /** Stops following the turn; the turn continues. */
  void close();

  /** Stops following the turn, and cancels it unless it has ended. */
  void cancel();
}
