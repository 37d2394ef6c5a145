package io.radixflow.cli.command.common;

import picocli.CommandLine.ExitCode;

/** Ends a command with a one-line message that says why and what to do. */
public final class CliException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  public CliException(String message) {
    this(message, null);
  }

  public CliException(String message, Throwable cause) {
    this(message, cause, ExitCode.SOFTWARE);
  }

  private CliException(String message, Throwable cause, int exitCode) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  /**
   * Creates an exception for bad input with the exit code of wrong usage, for commands in which
   * exit code 1 means something else.
   */
  public static CliException badInput(String message, Throwable cause) {
    return new CliException(message, cause, ExitCode.USAGE);
  }

  public static void throwIf(boolean wrong, String message) {
    if (wrong) {
      throw new CliException(message);
    }
  }

  public int exitCode() {
    return exitCode;
  }
}
