package io.radixflow.gateway.turn;

/**
 * Says why a turn is followed no longer.
 *
 * @param message for people
 */
public record TurnFailure(Reason reason, String message) {

  /** The kinds of failures. */
  public enum Reason {
    /** The listener took its pieces more slowly than they came, beyond its buffer. */
    TOO_SLOW,
    /** The brokers did not take the event. */
    UNAVAILABLE,
    /** The turn is another request's with the same key. */
    KEY_REUSED,
    /** The tenant gets no more turns now. */
    BUSY
  }
}
