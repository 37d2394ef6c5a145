package io.radixflow.kernels.device;

import java.util.concurrent.CountDownLatch;

/** A copy that the device's own thread makes, in the order of submission. */
public final class OrderedTransfer implements Transfer {
  private final Runnable copy;
  private final CountDownLatch done = new CountDownLatch(1);
  private volatile Throwable failure;

  public OrderedTransfer(Runnable copy) {
    this.copy = copy;
  }

  /** Makes the copy. The device's thread calls this once. */
  public void run() {
    try {
      copy.run();
    } catch (RuntimeException | Error e) {
      failure = e;
    } finally {
      done.countDown();
    }
  }

  @Override
  public boolean isDone() {
    return done.getCount() == 0;
  }

  @Override
  public void await() throws InterruptedException {
    done.await();
  }

  @Override
  public Throwable failure() {
    return failure;
  }
}
