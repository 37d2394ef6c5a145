package io.radixflow.operators.flink;

/** An event is refused for now; the same one, sent again later, may be served. */
final class BusyException extends RefusedException {
  private static final long serialVersionUID = 1L;

  BusyException(String reason) {
    super(reason + "; try again later");
  }
}
