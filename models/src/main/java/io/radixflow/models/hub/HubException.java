package io.radixflow.models.hub;

import java.io.IOException;

/** The hub cannot be used. The message continues a sentence that starts with the hub's name. */
final class HubException extends IOException {
  private static final long serialVersionUID = 1L;

  HubException(String message) {
    super(message);
  }
}
