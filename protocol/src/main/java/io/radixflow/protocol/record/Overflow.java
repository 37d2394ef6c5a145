package io.radixflow.protocol.record;

/** The ways to serve a conversation that outgrows the context window. */
public enum Overflow {
  /** Its oldest turns are dropped, down to half the window; the system prompt stays. */
  DROP_OLDEST,
  /** The turn is rejected. */
  REJECT
}
