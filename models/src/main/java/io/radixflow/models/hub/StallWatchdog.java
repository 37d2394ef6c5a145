package io.radixflow.models.hub;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Closes a stream that delivers no bytes for too long, so that its blocked reader fails and can
 * retry.
 */
final class StallWatchdog implements AutoCloseable {
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "radixflow-download-guard");
            thread.setDaemon(true);
            return thread;
          });
  private final LongSupplier nanoTime;
  private volatile long last;

  StallWatchdog(InputStream stream, Duration limit, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    last = nanoTime.getAsLong();
    long nanos = limit.toNanos();
    clock.scheduleAtFixedRate(
        () -> closeIfStalled(stream, nanos), nanos / 4, nanos / 4, TimeUnit.NANOSECONDS);
  }

  private void closeIfStalled(InputStream stream, long nanos) {
    if (nanoTime.getAsLong() - last > nanos) {
      try {
        stream.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Called when bytes have arrived. */
  void progressed() {
    last = nanoTime.getAsLong();
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
