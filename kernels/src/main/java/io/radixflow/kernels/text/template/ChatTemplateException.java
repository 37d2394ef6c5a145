package io.radixflow.kernels.text.template;

/** A chat template refused its messages, or failed; the message says why, for the user. */
public final class ChatTemplateException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ChatTemplateException(String message) {
    super(message);
  }
}
