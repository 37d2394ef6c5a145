package io.radixflow.engine;

import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.ReplyError;

/** Thrown if a prompt cannot be made from its conversation; the message is for the sender. */
public final class PromptException extends Exception {
  private static final long serialVersionUID = 1L;

  private final ReplyError error;

  public PromptException(ErrorCode code, String message) {
    this(new ReplyError(code, message));
  }

  private PromptException(ReplyError error) {
    super(error.message());
    this.error = error;
  }

  /**
   * Returns the exception for a prompt that leaves no room for a reply.
   *
   * @param message a text for the sender
   * @param tokens tokens of the prompt
   * @param window tokens of the context window
   */
  public static PromptException tooLong(String message, int tokens, int window) {
    return new PromptException(
        new ReplyError(ErrorCode.CONTEXT_LENGTH_EXCEEDED, message, tokens, window));
  }

  public ReplyError error() {
    return error;
  }
}
