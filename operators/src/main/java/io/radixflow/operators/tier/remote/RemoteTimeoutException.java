package io.radixflow.operators.tier.remote;

import java.io.IOException;

/**
 * A remote file system did not answer in time. The operation may still go on, and with it the use
 * of the buffer that it was given.
 */
final class RemoteTimeoutException extends IOException {
  private static final long serialVersionUID = 1L;

  RemoteTimeoutException(String message) {
    super(message);
  }
}
