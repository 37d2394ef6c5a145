package io.radixflow.operators.tier.loadback;

import io.radixflow.operators.PublicApi;
import java.util.Locale;

/** How long a waiting request waits for its pages from the tiers below host memory. */
@PublicApi
public enum PrefetchPolicy {
  /** Not at all: it takes what is there when its turn comes. */
  BEST_EFFORT,
  /** Until all are there, or cannot be had. */
  WAIT_COMPLETE,
  /** As long, but no longer than {@link LoadBackOptions#prefetchMillis}. */
  TIMEOUT;

  /** The name in configuration: {@code best_effort} … */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
