package io.radixflow.kernels.device;

/** Waits without giving up on an interrupt. For work that must end before its memory is freed. */
public final class Uninterruptibly {

  /** A blocking call that can be repeated after an interrupt. */
  @FunctionalInterface
  public interface Wait {
    /**
     * @throws InterruptedException if the thread is interrupted before the end
     */
    void await() throws InterruptedException;
  }

  private Uninterruptibly() {}

  /**
   * Waits until the end. If the thread was interrupted meanwhile, its interrupt flag is set
   * afterwards.
   */
  public static void await(Wait wait) {
    boolean interrupted = false;
    for (; ; ) {
      try {
        wait.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
