package io.radixflow.cli.local;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Measures waiting time without pauses of this process. A pause of any length counts as one step.
 * Causes of pauses are a stop by a signal or a debugger, a paused container, a closed lid, a
 * snapshot of a virtual machine, and a machine that is too busy to run the process.
 *
 * <p>The owner must check the timer several times within the longest step. Only one thread may use
 * a timer.
 */
final class AwakeTimer {

  /** More time than this between two checks is a pause. */
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

  /** Starts again at zero. */
  void restart() {
    lastLook = nanoClock.getAsLong();
    elapsed = 0;
  }

  /**
   * Checks the clock, and returns whether the process was awake for longer than {@code time} since
   * the start.
   */
  boolean exceeds(Duration time) {
    long now = nanoClock.getAsLong();
    elapsed += Math.min(now - lastLook, LONGEST_STEP_NANOS);
    lastLook = now;
    return elapsed > time.toNanos();
  }
}
