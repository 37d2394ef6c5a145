package io.radixflow.lab.traffic;

/**
 * The turns of one conversation, whose later turns may depend on replies. Only one thread uses it.
 */
public interface Script<T, R> {
  /**
   * A turn to send.
   *
   * @param pauseMillis time to wait before sending it
   * @param answered whether the turn has a reply to wait for
   */
  record Step<T>(T turn, long pauseMillis, boolean answered) {}

  /**
   * Returns the next turn; null if the next turn must wait for a reply, or if there are no more
   * turns.
   *
   * @param inFlight turns without a reply so far
   */
  Step<T> next(int inFlight);

  void answered(T turn, R reply);

  /** Returns true if no turn is left. */
  boolean ended();
}
