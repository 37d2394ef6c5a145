package io.radixflow.kernels.device;

/** A running copy of pages between a pool and host memory. */
public interface Transfer {

  /** Returns whether the transfer has ended, successfully or not. Never blocks. */
  boolean isDone();

  /**
   * Waits for the end.
   *
   * @throws InterruptedException if the waiting thread is interrupted; the transfer continues
   */
  void await() throws InterruptedException;

  /** Returns why the transfer failed, or null. */
  Throwable failure();
}
