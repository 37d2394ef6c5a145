package io.radixflow.models;

import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Logs a line every two seconds during a load that takes longer than that, and a line at the end of
 * every load. Passes all events on to another listener.
 */
public final class LoggedProgress implements ModelProgress {

  private static final long REPORT_NANOS = 2_000_000_000L;

  private final Consumer<String> log;
  private final ModelProgress next;
  private final LongSupplier nanoTime;
  private String what = "";
  private long total;
  private long done;
  private long begun;
  private long reported;

  /**
   * @param log receives the lines
   * @param next receives all events
   * @param nanoTime the clock
   */
  public LoggedProgress(Consumer<String> log, ModelProgress next, LongSupplier nanoTime) {
    this.log = log;
    this.next = next;
    this.nanoTime = nanoTime;
  }

  @Override
  public void step(String text) {
    next.step(text);
  }

  @Override
  public void begin(String name, long totalBytes, long doneBytes) {
    what = name;
    total = totalBytes;
    done = doneBytes;
    begun = nanoTime.getAsLong();
    reported = begun;
    next.begin(name, totalBytes, doneBytes);
  }

  @Override
  public void advance(long bytes) {
    done += bytes;
    long now = nanoTime.getAsLong();
    if (now - reported >= REPORT_NANOS) {
      reported = now;
      log.accept("Loading " + what + ": " + state(now - begun));
    }
    next.advance(bytes);
  }

  @Override
  public void end() {
    long nanos = nanoTime.getAsLong() - begun;
    if (done >= total) {
      log.accept("Loaded " + what + " in " + nanos / 1_000_000 + " ms: " + state(nanos));
    }
    next.end();
  }

  private String state(long nanos) {
    return ModelProgress.state(done, total, nanos);
  }
}
