package io.radixflow.jobs.event;

/** An event's field is missing, wrong or not served; the message names it, for the sender. */
final class InvalidEventException extends Exception {
  private static final long serialVersionUID = 1L;

  InvalidEventException(String message) {
    super(message, null, false, false);
  }
}
