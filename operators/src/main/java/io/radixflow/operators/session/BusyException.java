package io.radixflow.operators.session;

import io.radixflow.protocol.record.ErrorCode;

/** Thrown if a turn is refused for now. The sender may send it again later with another turn id. */
public final class BusyException extends RefusedException {
  private static final long serialVersionUID = 1L;

  public BusyException(String reason) {
    this(ErrorCode.BUSY, reason);
  }

  /**
   * @param code {@link ErrorCode#BUSY} or {@link ErrorCode#DRAINING}
   */
  public BusyException(ErrorCode code, String reason) {
    super(code, reason + "; try again later, with another turn id");
  }
}
