package io.radixflow.client.config;

/**
 * A setting is unknown or wrong. The message is one line with the setting's name and the valid
 * values.
 */
public final class SettingsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public SettingsException(String message) {
    super(message);
  }
}
