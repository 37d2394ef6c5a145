package io.radixflow.tools.json;

/** One line of an input cannot be used; the lines after it can. */
public final class LineException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public LineException(String message) {
    super(message);
  }
}
