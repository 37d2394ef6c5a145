package io.radixflow.operators.session;

/** An event cannot be served as it is; the message says why, for its sender. */
public class RefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  public RefusedException(String reason) {
    super(reason);
  }
}
