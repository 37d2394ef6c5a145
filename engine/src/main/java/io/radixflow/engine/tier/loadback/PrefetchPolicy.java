package io.radixflow.engine.tier.loadback;

import io.radixflow.protocol.PublicApi;
import java.util.Locale;

/** Decides how long a request waits for its pages from the tiers below host memory. */
@PublicApi
public enum PrefetchPolicy {
  /** A request does not wait; it uses the pages that have arrived when it is admitted. */
  BEST_EFFORT,
  /** A request waits until each page has arrived or is known to be unavailable. */
  WAIT_COMPLETE,
  /** A request waits for all pages, but no longer than {@link LoadBackOptions#prefetchMillis}. */
  TIMEOUT;

  /** Returns the name in the configuration: {@code best_effort} … */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
