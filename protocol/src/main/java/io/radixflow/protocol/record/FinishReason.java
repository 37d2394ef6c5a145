package io.radixflow.protocol.record;

import java.util.Locale;

/** The reason for which a reply ended; lower case in records. */
public enum FinishReason {
  /** The model ended its turn, or a stop string was met. */
  STOP,
  /** The limit on tokens, or the context window, was reached. */
  LENGTH,
  /** The model called tools. */
  TOOL_CALLS,
  /** Cancelled by its sender, or with its session. */
  CANCELLED,
  /** A newer turn of its branch replaced it. */
  REPLACED,
  /** Not accepted: invalid, too large, or over a bound. */
  REJECTED,
  /** Failed. */
  ERROR;

  /** Returns the name in records. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
