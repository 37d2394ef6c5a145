package io.radixflow.lab.workload;

import java.io.IOException;

/** A workload cannot be used; the message says where and what is expected, in one line. */
public final class WorkloadException extends IOException {
  private static final long serialVersionUID = 1L;

  WorkloadException(String message) {
    super(message);
  }
}
