package io.radixflow.cli.local;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Measures for how long something was waited for while this process ran. A pause of the process,
 * however long, counts as one step: a stop by a signal or a debugger, a container that is paused, a
 * closed lid, a snapshot of a virtual machine, a machine that is too busy to run the process.
 *
 * <p>The owner looks several times within the longest step. One thread uses a timer.
 */
final class AwakeTimer {

  /** More time than this between two looks is a pause. */
  private static final long LONGEST_STEP_NANOS = Duration.ofSeconds(2).toNanos();

  private final LongSupplier nanoClock;
  private long lastLook;
  private long elapsed;

  AwakeTimer(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    restart();
  }

  static AwakeTimer start() {
    return new AwakeTimer(System::nanoTime);
  }

  /** Begins again at zero. */
  void restart() {
    lastLook = nanoClock.getAsLong();
    elapsed = 0;
  }

  /** Looks, and returns whether the process was awake for longer than a time since the start. */
  boolean exceeds(Duration time) {
    long now = nanoClock.getAsLong();
    elapsed += Math.min(now - lastLook, LONGEST_STEP_NANOS);
    lastLook = now;
    return elapsed > time.toNanos();
  }
}
