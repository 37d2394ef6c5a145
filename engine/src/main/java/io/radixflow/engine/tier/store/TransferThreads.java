package io.radixflow.engine.tier.store;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads for several reads or writes of a store at a time. */
public final class TransferThreads {
  private TransferThreads() {}

  /**
   * Opens a pool of daemon threads. After the pool is shut down, work runs in the caller's thread.
   */
  public static ThreadPoolExecutor open(String name, int count) {
    return new ThreadPoolExecutor(
        count,
        count,
        0,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        named(name),
        (work, closed) -> work.run());
  }

  /** Returns a factory of daemon threads that all have one name. */
  public static ThreadFactory named(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }
}
