package io.radixflow.operators.engine;

import io.radixflow.operators.record.ErrorCode;
import io.radixflow.operators.record.ReplyError;

/** Thrown if a prompt cannot be made from its conversation; the message is for the sender. */
public final class PromptException extends Exception {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;

  public PromptException(ErrorCode code, String message) {
    super(message);
    this.code = code;
  }

  /** Returns the error of the reply. */
  public ReplyError error() {
    return new ReplyError(code, getMessage());
  }
}
