package io.radixflow.gateway.topics;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Limits the log lines of an event that comes in bursts to one per 10 seconds. Thread-safe. */
public final class LogPace {

  private static final long NANOS = TimeUnit.SECONDS.toNanos(10);

  private final AtomicLong count = new AtomicLong();
  private final AtomicLong logged = new AtomicLong(System.nanoTime() - NANOS);

  /** Counts an event. Returns the number of events so far if a line is due, else 0. */
  public long due() {
    long now = count.incrementAndGet();
    long last = logged.get();
    long time = System.nanoTime();
    return time - last >= NANOS && logged.compareAndSet(last, time) ? now : 0;
  }
}
