package io.radixflow.gateway.live;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes samples of a source on its own thread, as long as readers ask for them. So readers never
 * wait, and many readers cost as much as one reader. Thread-safe.
 */
final class LiveSampler implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LiveSampler.class);

  private final String name;
  private final long periodMillis;
  private final long idleNanos;
  private final Opening opening;
  private final Function<Exception, byte[]> failed;
  private final byte[] starting;
  private volatile byte[] latest;
  private Thread thread;
  private long asked;
  private volatile boolean closed;

  /** The source of samples. Only the sampler's thread uses it. */
  interface Source extends AutoCloseable {

    /**
     * Takes a sample; may block for seconds.
     *
     * @param stopped returns true if the source must return early, with any sample
     */
    byte[] sample(BooleanSupplier stopped) throws Exception;

    @Override
    default void close() {}
  }

  /** Opens a source. */
  @FunctionalInterface
  interface Opening {
    Source open() throws Exception;
  }

  /**
   * @param name name of the thread
   * @param periodMillis pause between samples
   * @param idleMillis time without a reader after which the source is closed
   * @param starting the sample to show before the source has given one
   * @param failed creates the sample of a failure; afterwards the source is opened again
   */
  LiveSampler(
      String name,
      long periodMillis,
      long idleMillis,
      Opening opening,
      byte[] starting,
      Function<Exception, byte[]> failed) {
    this.name = name;
    this.periodMillis = periodMillis;
    this.idleNanos = TimeUnit.MILLISECONDS.toNanos(idleMillis);
    this.opening = opening;
    this.starting = starting;
    this.failed = failed;
    this.latest = starting;
  }

  /** Returns the latest sample, and keeps the sampling going. Never blocks. */
  synchronized byte[] latest() {
    asked = System.nanoTime();
    if (thread == null && !closed) {
      thread = new Thread(this::run, name);
      thread.setDaemon(true);
      thread.start();
    }
    return latest;
  }

  private void run() {
    Source source = null;
    try {
      do {
        try {
          source = source == null ? opening.open() : source;
          latest = source.sample(() -> closed);
        } catch (Exception e) {
          if (closed) {
            return;
          }
          LOG.debug("{} has no sample", name, e);
          latest = failed.apply(e);
          close(source);
          source = null;
        }
      } while (pause());
    } catch (InterruptedException e) {
      LOG.debug("{} was interrupted", name);
    } finally {
      // closing a source while the interrupt flag is set would stop half way
      Thread.interrupted();
      close(source);
    }
  }

  /**
   * Waits for the next sample. Returns false to stop this thread; a new thread may be started
   * later.
   */
  private synchronized boolean pause() throws InterruptedException {
    if (!closed) {
      wait(periodMillis);
    }
    boolean goesOn = !closed && System.nanoTime() - asked < idleNanos;
    if (!goesOn) {
      thread = null;
      latest = starting;
    }
    return goesOn;
  }

  private static void close(Source source) {
    if (source != null) {
      source.close();
    }
  }

  /** Interrupts the current sample, and returns when the thread has ended. */
  @Override
  public void close() {
    Thread last;
    synchronized (this) {
      closed = true;
      last = thread;
      notifyAll();
    }
    if (last != null) {
      // a source that waits for a broker would otherwise wait for its whole timeout
      last.interrupt();
      try {
        last.join(TimeUnit.MINUTES.toMillis(1));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
