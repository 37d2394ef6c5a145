package io.radixflow.kernels.device;

/** Pages on their way between a pool and host memory. */
public interface Transfer {

  /** Returns whether it has ended, with success or failure. Never blocks. */
  boolean isDone();

  /**
   * Waits for the end.
   *
   * @throws InterruptedException if the waiting thread is interrupted; the transfer continues
   */
  void await() throws InterruptedException;

  /** Why it failed, or null. */
  Throwable failure();
}
