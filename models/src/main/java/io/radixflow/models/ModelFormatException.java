package io.radixflow.models;

import java.nio.file.Path;

/**
 * A model file is truncated, corrupt, foreign or not supported; the message names file and field.
 */
public final class ModelFormatException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ModelFormatException(String message) {
    super(message);
  }

  public ModelFormatException(String message, Throwable cause) {
    super(message, cause);
  }

  /** Returns an error with the file before the message, if that does not name it. */
  public ModelFormatException in(Path file) {
    return getMessage().contains(file.toString())
        ? this
        : new ModelFormatException(file + ": " + getMessage(), this);
  }

  /** A text of a file, short and on one line. */
  public static String printable(String text) {
    String line = text.replaceAll("\\p{Cntrl}", "?");
    return line.length() > 80 ? line.substring(0, 80) + "…" : line;
  }
}
