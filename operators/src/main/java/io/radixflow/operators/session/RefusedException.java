package io.radixflow.operators.session;

import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.ReplyError;

/** An event cannot be served as it is; the message says why, for its sender. */
public class RefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;

  /** An event that is not valid as it is. */
  public RefusedException(String reason) {
    this(ErrorCode.INVALID_REQUEST, reason);
  }

  public RefusedException(ErrorCode code, String reason) {
    super(reason);
    this.code = code;
  }

  /** Returns the error of the reply. */
  public ReplyError error() {
    return new ReplyError(code, getMessage());
  }
}
