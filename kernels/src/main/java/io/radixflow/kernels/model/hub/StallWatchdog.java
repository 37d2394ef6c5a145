package io.radixflow.kernels.model.hub;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Closes a stream that brings no byte for too long, so that its blocked reader fails and can retry.
 */
final class StallWatchdog implements AutoCloseable {
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "radixflow-download-guard");
            thread.setDaemon(true);
            return thread;
          });
  private volatile long last = System.nanoTime();

  StallWatchdog(InputStream stream, Duration limit) {
    long nanos = limit.toNanos();
    clock.scheduleAtFixedRate(
        () -> closeIfStalled(stream, nanos), nanos / 4, nanos / 4, TimeUnit.NANOSECONDS);
  }

  private void closeIfStalled(InputStream stream, long nanos) {
    if (System.nanoTime() - last > nanos) {
      try {
        stream.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Bytes have come. */
  void progressed() {
    last = System.nanoTime();
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
