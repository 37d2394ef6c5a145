package io.radixflow.engine.tier.remote;

import io.radixflow.engine.tier.page.MissReason;
import java.io.IOException;

/**
 * A remote file system did not complete an operation: it was too slow, or was not called at all.
 */
final class RemoteMissException extends IOException {
  private static final long serialVersionUID = 1L;

  private final MissReason reason;

  RemoteMissException(MissReason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /**
   * Returns {@link MissReason#UNREACHABLE}, or {@link MissReason#TIMEOUT} if the operation may
   * still run.
   */
  MissReason reason() {
    return reason;
  }
}
