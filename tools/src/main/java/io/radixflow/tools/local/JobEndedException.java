package io.radixflow.tools.local;

import java.io.IOException;

/** The job ended by itself and will not go on; the message says how, and from what cause. */
public final class JobEndedException extends IOException {
  private static final long serialVersionUID = 1L;

  JobEndedException(String message, Throwable cause) {
    super(message, cause);
  }
}
