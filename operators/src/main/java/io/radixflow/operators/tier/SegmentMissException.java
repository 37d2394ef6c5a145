package io.radixflow.operators.tier;

import java.io.IOException;

/** A segment file that is not what it was. */
final class SegmentMissException extends IOException {
  private static final long serialVersionUID = 1L;

  private final MissReason reason;

  SegmentMissException(MissReason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /** What its pages are missed for. */
  MissReason reason() {
    return reason;
  }
}
