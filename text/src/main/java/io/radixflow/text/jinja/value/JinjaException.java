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
   * Creates an error without a line number, which the interpreter adds.
   *
   * @param kind the corresponding error class in Python or Jinja, such as {@code TypeError}
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

  /** Creates the error for a template that exceeds a limit, such as a limit of {@link Budget}. */
  public static JinjaException limit(String reason) {
    return of("LimitExceeded", reason);
  }

  /** Creates the error for a template that called {@code raise_exception}. */
  public static JinjaException raised(String message) {
    return new JinjaException(RAISED, message, 0);
  }

  /** Returns this error with a line number, unless it already has one. */
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

  /** Returns the message without line number and kind. */
  public String reason() {
    return reason;
  }
}
