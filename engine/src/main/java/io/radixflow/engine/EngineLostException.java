package io.radixflow.engine;

/**
 * The engine's device is lost, or the engine is beyond repair: none of its requests can continue.
 * The caller has the generated tokens so far and resubmits the request to a new engine.
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
