package io.radixflow.operators.flink;

import io.radixflow.kernels.device.OutOfDeviceMemoryException;
import io.radixflow.kernels.model.ModelFormatException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens an engine for a job, and decides what a failure means: what would fail again ends the job,
 * as restarts would only hide it; device memory that is not free is waited for, as a process that
 * was killed gives its memory back some time later; anything else restarts the job.
 */
final class EngineOpening {
  private static final Logger LOG = LoggerFactory.getLogger(EngineOpening.class);

  /** How long memory is waited for. */
  static final Duration PATIENCE = Duration.ofSeconds(15);

  private static final Duration PAUSE = Duration.ofSeconds(1);

  /** Lets time pass. */
  @FunctionalInterface
  interface Pause {
    void pass(Duration time) throws InterruptedException;
  }

  private final LongSupplier nanos;
  private final Pause pause;

  EngineOpening() {
    this(System::nanoTime, time -> TimeUnit.NANOSECONDS.sleep(time.toNanos()));
  }

  /**
   * @param nanos a clock
   */
  EngineOpening(LongSupplier nanos, Pause pause) {
    this.nanos = nanos;
    this.pause = pause;
  }

  /**
   * Opens the engine.
   *
   * @throws SuppressRestartsException if no restart would help; the root cause's message says in
   *     one line why, and what to do
   */
  ServingEngine open(EngineOpener opener, EngineHome home) throws Exception {
    long deadline = nanos.getAsLong() + PATIENCE.toNanos();
    while (true) {
      try {
        return opener.open(home);
      } catch (OutOfDeviceMemoryException e) {
        if (nanos.getAsLong() >= deadline) {
          throw endOfJob(e);
        }
        LOG.warn("The engine does not open, and will be tried again: {}", e.getMessage());
        pause.pass(PAUSE);
      } catch (IllegalArgumentException | ModelFormatException e) {
        throw endOfJob(e);
      }
    }
  }

  /**
   * The message alone travels: Flink shows a root cause, which is deeper than people can act on.
   */
  private static SuppressRestartsException endOfJob(RuntimeException failure) {
    LOG.error("The engine does not open", failure);
    return new SuppressRestartsException(
        new IllegalStateException("the engine does not open: " + failure.getMessage()));
  }
}
