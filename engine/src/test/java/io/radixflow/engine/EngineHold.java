package io.radixflow.engine;

import io.radixflow.engine.loop.ContinuousBatchingEngine;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps an engine from planning another step until it is closed. Meanwhile the engine thread runs
 * the tasks in its inbox: it accepts requests, which then all wait when the next step is planned.
 */
public final class EngineHold implements AutoCloseable {
  private static final long PAUSE_NANOS = 20_000;

  private final ContinuousBatchingEngine engine;
  private volatile boolean released;

  public EngineHold(Engine engine) {
    this.engine = (ContinuousBatchingEngine) engine;
    hold();
  }

  /** Adds a task that adds itself again, so that the inbox is never empty. */
  private void hold() {
    engine.onTiers(
        tiers -> {
          if (!released) {
            LockSupport.parkNanos(PAUSE_NANOS);
            hold();
          }
          return null;
        });
  }

  @Override
  public void close() {
    released = true;
  }
}
