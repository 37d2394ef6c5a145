package io.radixflow.gateway.turn;

/** The brokers did not take an event; the message says why. Without a stack trace. */
public final class TurnException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TurnException(String message, Throwable cause) {
    super(message, cause, false, false);
  }
}
