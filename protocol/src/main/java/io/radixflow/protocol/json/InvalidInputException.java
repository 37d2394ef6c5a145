package io.radixflow.protocol.json;

/**
 * Input from outside the process cannot be used: a field is missing, wrong or unknown, or a line is
 * too long. The message names the fault, for the sender. It has no stack trace, because it is
 * thrown for each bad record.
 */
public final class InvalidInputException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public InvalidInputException(String message) {
    super(message);
  }

  @Override
  public Throwable fillInStackTrace() {
    return this;
  }
}
