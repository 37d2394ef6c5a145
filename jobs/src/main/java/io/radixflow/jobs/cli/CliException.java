package io.radixflow.jobs.cli;

/** A command cannot go on; the message says why and what to do, in one line. */
final class CliException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CliException(String message) {
    super(message);
  }

  CliException(String message, Throwable cause) {
    super(message, cause);
  }
}
