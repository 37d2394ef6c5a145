package io.radixflow.engine;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** How long tests wait for what other threads do: longer than the slowest machine needs. */
public final class Patience {
  public static final Duration DURATION = Duration.ofSeconds(120);

  private Patience() {}

  /** Begins to wait for a condition, which is checked again and again. */
  public static ConditionFactory await() {
    return Awaitility.await()
        .atMost(DURATION)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2));
  }
}
