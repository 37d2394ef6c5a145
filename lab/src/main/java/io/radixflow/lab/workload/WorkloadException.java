package io.radixflow.lab.workload;

import java.io.IOException;

/** Reports a workload that cannot be used; the message names the line and the expected content. */
public final class WorkloadException extends IOException {
  private static final long serialVersionUID = 1L;

  WorkloadException(String message) {
    super(message);
  }
}
