package io.radixflow.jobs.config;

/** A setting is unknown or wrong; the message names it and says what is valid, in one line. */
public final class SettingsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public SettingsException(String message) {
    super(message);
  }
}
