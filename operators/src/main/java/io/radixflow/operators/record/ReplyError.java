package io.radixflow.operators.record;

/**
 * The reason for which an event was rejected or a turn failed; a Flink POJO.
 *
 * @param code for programs
 * @param message for people
 */
public record ReplyError(ErrorCode code, String message) {

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
