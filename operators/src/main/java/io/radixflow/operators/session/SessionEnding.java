package io.radixflow.operators.session;

/** The ways in which a session ends. */
public enum SessionEnding {
  CLOSED,
  EXPIRED,
  ERASED,
  /** Erased with its tenant. */
  TENANT_ERASED
}
