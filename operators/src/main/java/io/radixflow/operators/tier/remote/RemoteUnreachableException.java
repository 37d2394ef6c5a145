package io.radixflow.operators.tier.remote;

import java.io.IOException;

/** A remote file system has failed before and is not asked for a while. */
final class RemoteUnreachableException extends IOException {
  private static final long serialVersionUID = 1L;

  RemoteUnreachableException(String message) {
    super(message);
  }
}
