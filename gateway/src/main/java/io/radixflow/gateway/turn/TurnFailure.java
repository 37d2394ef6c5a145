package io.radixflow.gateway.turn;

/**
 * The reason why a turn can no longer be followed.
 *
 * @param message for people
 */
public record TurnFailure(Reason reason, String message) {

  /** The kinds of failure. */
  public enum Reason {
    /** The listener was too slow, and its buffer was full. */
    TOO_SLOW,
    /** The brokers did not accept the event. */
    UNAVAILABLE,
    /** The turn belongs to a different request with the same key. */
    KEY_REUSED,
    /** The tenant cannot start turns now. */
    BUSY
  }
}
