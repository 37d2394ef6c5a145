package io.radixflow.protocol.record.kv;

/** The state of a session, by where its cached pages are. */
public enum SlotState {
  /** A turn runs or waits; its pages are locked. */
  HOT,
  /** Between turns; the device has pages, which may be evicted. */
  WARM,
  /** Between turns; tiers below the device have pages that the device does not have. */
  COLD,
  /** No tier has a page; the next turn is prefilled from its token ids. */
  GONE
}
