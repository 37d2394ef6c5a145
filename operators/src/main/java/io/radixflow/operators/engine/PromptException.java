package io.radixflow.operators.engine;

/** A prompt cannot be made from its conversation; the message says why, for the sender. */
public final class PromptException extends Exception {
  private static final long serialVersionUID = 1L;

  public PromptException(String message) {
    super(message);
  }
}
