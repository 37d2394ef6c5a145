package io.radixflow.gateway.turn;

/** A turn that is followed. Safe for many threads. */
public interface TurnStream {

  /** Holds pieces back, joined into one, until {@link #resume()}. */
  void pause();

  /** Passes on what was held back and what comes. */
  void resume();

  /** Follows the turn no longer; it goes on. */
  void close();

  /** Follows the turn no longer, and cancels it unless it has ended. */
  void cancel();
}
