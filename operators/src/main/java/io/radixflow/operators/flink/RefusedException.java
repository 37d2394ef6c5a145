package io.radixflow.operators.flink;

/** An event cannot be served as it is; the message says why, for its sender. */
class RefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  RefusedException(String reason) {
    super(reason);
  }
}
