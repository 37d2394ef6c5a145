package io.radixflow.cli.cluster;

import java.io.IOException;
import java.time.Duration;

/** Waits for conditions that other processes bring about. */
public final class Waiting {

  private static final Duration PERIOD = Duration.ofMillis(100);

  private Waiting() {}

  /** The condition to wait for; an {@link IOException} means not yet. */
  @FunctionalInterface
  public interface Condition {
    boolean holds() throws IOException, InterruptedException;
  }

  /**
   * Polls until the condition holds.
   *
   * @param what names the condition in the error message, such as {@code "the job to run"}
   * @throws IOException if it does not hold in time
   */
  public static void until(String what, Duration limit, Condition condition)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    IOException last = null;
    while (true) {
      try {
        if (condition.holds()) {
          return;
        }
      } catch (IOException e) {
        last = e;
      }
      if (System.nanoTime() > deadline) {
        throw new IOException("waited " + limit.toSeconds() + " s for " + what, last);
      }
      Thread.sleep(PERIOD.toMillis());
    }
  }
}
