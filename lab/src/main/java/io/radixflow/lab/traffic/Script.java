package io.radixflow.lab.traffic;

/**
 * The turns of one conversation, whose later turns may depend on replies. Only one thread uses it.
 */
public interface Script<T, R> {
  /**
   * A turn to send.
   *
   * @param pauseMillis time to wait before
   * @param answered whether it has a reply, to be waited for
   */
  record Step<T>(T turn, long pauseMillis, boolean answered) {}

  /**
   * Returns the next turn, or null if it must wait for a reply, or if there is none.
   *
   * @param inFlight turns without a reply so far
   */
  Step<T> next(int inFlight);

  /** Takes the reply to a turn. */
  void answered(T turn, R reply);

  /** Returns true if no turn is left. */
  boolean ended();
}
