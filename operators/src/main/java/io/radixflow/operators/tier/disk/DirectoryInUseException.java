package io.radixflow.operators.tier.disk;

import java.io.IOException;

/** A page directory that another has open; what is in it may not be touched. */
final class DirectoryInUseException extends IOException {
  private static final long serialVersionUID = 1L;

  DirectoryInUseException(String message, Throwable cause) {
    super(message, cause);
  }
}
