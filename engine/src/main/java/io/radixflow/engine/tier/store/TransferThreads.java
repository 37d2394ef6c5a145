package io.radixflow.engine.tier.store;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads for several reads or writes of a store at a time. */
public final class TransferThreads {
  private TransferThreads() {}

  /** Daemon threads; closed meanwhile, work is done in the caller's thread. */
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

  /** Creates daemon threads of one name. */
  public static ThreadFactory named(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }
}
