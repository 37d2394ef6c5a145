package io.radixflow.kernels.model.hub;

import java.io.IOException;

/** A model cannot be had; the message is for the user: what was tried, and what to do. */
public final class ModelUnavailableException extends IOException {
  private static final long serialVersionUID = 1L;

  ModelUnavailableException(String message) {
    super(message);
  }

  ModelUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
