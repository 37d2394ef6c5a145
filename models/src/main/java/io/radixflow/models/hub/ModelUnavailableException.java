package io.radixflow.models.hub;

import java.io.IOException;

/**
 * A model is not available. The message is for the user: it says which sources were tried and what
 * to do.
 */
public final class ModelUnavailableException extends IOException {
  private static final long serialVersionUID = 1L;

  ModelUnavailableException(String message) {
    super(message);
  }

  ModelUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
