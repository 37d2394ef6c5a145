package io.radixflow.kernels.device;

/** Pages on their way between a pool and host memory. */
public interface Transfer {

  /** Whether it has ended, in either way. Never blocks. */
  boolean isDone();

  /**
   * Waits for the end.
   *
   * @throws InterruptedException if the waiting thread is interrupted; the transfer goes on
   */
  void await() throws InterruptedException;

  /** Why it failed, or null. */
  Throwable failure();
}
