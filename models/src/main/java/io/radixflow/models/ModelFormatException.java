package io.radixflow.models;

import java.nio.file.Path;

/**
 * A model file is truncated, corrupt, foreign or not supported. The message names the file and the
 * field.
 */
public final class ModelFormatException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ModelFormatException(String message) {
    super(message);
  }

  public ModelFormatException(String message, Throwable cause) {
    super(message, cause);
  }

  /** Returns this error, with the file before the message unless the message already names it. */
  public ModelFormatException in(Path file) {
    return getMessage().contains(file.toString())
        ? this
        : new ModelFormatException(file + ": " + getMessage(), this);
  }

  /**
   * Shortens a text from a file and removes control characters, so that it can be part of a
   * message.
   */
  public static String printable(String text) {
    String line = text.replaceAll("\\p{Cntrl}", "?");
    return line.length() > 80 ? line.substring(0, 80) + "…" : line;
  }
}
