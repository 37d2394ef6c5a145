package io.radixflow.operators.tier.loadback;

import io.radixflow.operators.PublicApi;
import java.util.Locale;

/** Decides how long a request waits for its pages from the tiers below host memory. */
@PublicApi
public enum PrefetchPolicy {
  /** A request does not wait; it takes what is there when its turn comes. */
  BEST_EFFORT,
  /** A request waits until all pages are there or cannot be had. */
  WAIT_COMPLETE,
  /** A request waits for all, but no longer than {@link LoadBackOptions#prefetchMillis}. */
  TIMEOUT;

  /** The name in configuration: {@code best_effort} … */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
