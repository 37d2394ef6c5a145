package io.radixflow.operators.session;

import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.ReplyError;

/** Thrown if an event is refused; the message tells its sender why. */
public class RefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;

  /** Creates the exception for an invalid event. */
  public RefusedException(String reason) {
    this(ErrorCode.INVALID_REQUEST, reason);
  }

  public RefusedException(ErrorCode code, String reason) {
    super(reason);
    this.code = code;
  }

  public ReplyError error() {
    return new ReplyError(code, getMessage());
  }
}
