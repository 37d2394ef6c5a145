package io.radixflow.kernels.device;

/** Waits that an interrupt does not end: for work that must be over before its memory is freed. */
public final class Uninterruptibly {

  /** Something that blocks, and may be called again after an interrupt. */
  @FunctionalInterface
  public interface Wait {
    /**
     * @throws InterruptedException if the thread is interrupted before the end
     */
    void await() throws InterruptedException;
  }

  private Uninterruptibly() {}

  /** Waits to the end; an interrupt meanwhile is left on the thread. */
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
