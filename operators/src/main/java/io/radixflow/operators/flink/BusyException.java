package io.radixflow.operators.flink;

/** A turn is refused for now; the same, sent again later under another turn id, may be served. */
final class BusyException extends RefusedException {
  private static final long serialVersionUID = 1L;

  BusyException(String reason) {
    super(reason + "; try again later, with another turn id");
  }
}
