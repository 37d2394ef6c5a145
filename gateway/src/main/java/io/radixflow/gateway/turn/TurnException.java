package io.radixflow.gateway.turn;

/** Thrown if the brokers did not accept an event; the message says why. It has no stack trace. */
public final class TurnException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TurnException(String message, Throwable cause) {
    super(message, cause, false, false);
  }
}
