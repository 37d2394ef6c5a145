package io.radixflow.text.jinja.value;

/** A template is not valid, failed, or exceeded a limit. */
public final class JinjaException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final String RAISED = "raised";

  private final String kind;
  private final String reason;
  private final int line;

  private JinjaException(String kind, String reason, int line) {
    super(
        (line > 0 ? "line " + line + ": " : "") + (kind.equals(RAISED) ? "" : kind + ": ") + reason,
        null,
        false,
        false);
    this.kind = kind;
    this.reason = reason;
    this.line = line;
  }

  /**
   * Makes an error without a line; the interpreter adds the line.
   *
   * @param kind the class of Python's or Jinja's that it stands for, such as {@code TypeError}
   */
  public static JinjaException of(String kind, String reason, Object... arguments) {
    return new JinjaException(
        kind, arguments.length == 0 ? reason : String.format(reason, arguments), 0);
  }

  public static JinjaException type(String reason, Object... arguments) {
    return of("TypeError", reason, arguments);
  }

  public static JinjaException value(String reason, Object... arguments) {
    return of("ValueError", reason, arguments);
  }

  /** Makes the error of a template that exceeds one of the bounds of {@link Budget}. */
  public static JinjaException limit(String reason) {
    return of("LimitExceeded", reason);
  }

  /** Makes the error of a template that called {@code raise_exception}. */
  public static JinjaException raised(String message) {
    return new JinjaException(RAISED, message, 0);
  }

  /** Returns this error with the line, unless it has one. */
  public JinjaException at(int where) {
    return line > 0 ? this : new JinjaException(kind, reason, where);
  }

  /** Returns whether the template itself raised this error. */
  public boolean isRaised() {
    return kind.equals(RAISED);
  }

  public String kind() {
    return kind;
  }

  /** Returns the message without line and kind. */
  public String reason() {
    return reason;
  }
}
