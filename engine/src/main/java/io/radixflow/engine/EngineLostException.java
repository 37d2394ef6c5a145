package io.radixflow.engine;

/**
 * Thrown if the engine's device is lost or the engine cannot be repaired, so that none of its
 * requests can continue. The caller has the tokens generated so far and must resubmit each request
 * to a new engine.
 */
public final class EngineLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public EngineLostException(Throwable cause) {
    super("the engine's device is lost: " + cause.getMessage(), cause);
  }

  public EngineLostException(String what, Throwable cause) {
    super(what + ": " + cause, cause);
  }
}
