package io.radixflow.text.template;

/** A chat template rejected its messages or failed. The message tells the user why. */
public final class ChatTemplateException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean limit;

  public ChatTemplateException(String message) {
    this(message, false);
  }

  ChatTemplateException(String message, boolean limit) {
    super(message);
    this.limit = limit;
  }

  /** Returns whether the template exceeded a bound of time or memory. */
  boolean isLimit() {
    return limit;
  }
}
