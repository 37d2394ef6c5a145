package io.radixflow.operators.session;

/** A turn is refused for now; the same, sent again later under another turn id, may be served. */
public final class BusyException extends RefusedException {
  private static final long serialVersionUID = 1L;

  public BusyException(String reason) {
    super(reason + "; try again later, with another turn id");
  }
}
