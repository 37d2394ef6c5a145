package io.radixflow.text.regex;

/** Reports that a regular expression is malformed, not supported or too large. */
public final class RegexException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int offset;

  RegexException(String message, int offset) {
    super(message);
    this.offset = offset;
  }

  static RegexException tooLarge(String message) {
    return new RegexException(message, -1);
  }

  /** The offset in the expression, in chars; -1 if the expression is too large. */
  public int offset() {
    return offset;
  }
}
