package io.radixflow.jobs.cli;

/** One input line cannot be answered; its output line says why and the next line is read. */
final class LineException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  LineException(String message) {
    super(message);
  }
}
