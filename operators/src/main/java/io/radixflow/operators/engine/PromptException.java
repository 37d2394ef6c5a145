package io.radixflow.operators.engine;

/** Thrown if a prompt cannot be made from its conversation; the message is for the sender. */
public final class PromptException extends Exception {
  private static final long serialVersionUID = 1L;

  public PromptException(String message) {
    super(message);
  }
}
