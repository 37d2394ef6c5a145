package io.radixflow.cli.local;

import java.io.IOException;

/**
 * Thrown if the job ended by itself and does not restart; the message says how it ended and why.
 */
public final class JobEndedException extends IOException {
  private static final long serialVersionUID = 1L;

  JobEndedException(String message, Throwable cause) {
    super(message, cause);
  }
}
