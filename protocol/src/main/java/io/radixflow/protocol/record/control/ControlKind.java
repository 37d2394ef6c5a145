package io.radixflow.protocol.record.control;

import java.util.Locale;

/** The request of a control event; lower case in records. */
public enum ControlKind {
  /** Erases the sessions and pages of a tenant. */
  ERASE_TENANT,
  /** Refuses new turns, or accepts them again if the value is {@code off}. */
  DRAIN,
  /** Changes limits, of a tenant or of all; the value is a {@link LimitChange} as text. */
  LIMITS,
  /** Switches the tiers below the device; the value is a {@link TierCommand} as text. */
  TIERS;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
