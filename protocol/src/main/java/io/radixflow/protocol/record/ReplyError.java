package io.radixflow.protocol.record;

/**
 * The reason for which an event was rejected or a turn failed; a Flink POJO.
 *
 * @param code for programs
 * @param message for people
 * @param promptTokens of a prompt that does not fit into the context window; else 0
 * @param contextWindow its tokens, if a prompt does not fit into it; else 0
 */
public record ReplyError(ErrorCode code, String message, int promptTokens, int contextWindow) {

  public ReplyError(ErrorCode code, String message) {
    this(code, message, 0, 0);
  }

  /** Returns the error of an event that is not valid as it is. */
  public static ReplyError invalid(String message) {
    return new ReplyError(ErrorCode.INVALID_REQUEST, message);
  }

  /** Returns the error of a turn that failed. */
  public static ReplyError failed(String message) {
    return new ReplyError(ErrorCode.FAILED, message);
  }

  @Override
  public String toString() {
    return message;
  }
}
