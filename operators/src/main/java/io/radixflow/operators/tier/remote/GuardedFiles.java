package io.radixflow.operators.tier.remote;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remote files that answer in time or fail: each operation runs on a thread of its own and is given
 * up when it takes too long ({@link RemoteTimeoutException}); a file system that fails again and
 * again is not asked for a while ({@link RemoteUnreachableException}).
 *
 * <p>An operation that was given up may go on. Its buffer is lost to its owner until it has ended;
 * an object that it makes nevertheless is deleted again, unless somebody may count on it.
 */
final class GuardedFiles implements RemoteFiles {
  private static final Logger LOG = LoggerFactory.getLogger(GuardedFiles.class);

  /** How many operations may hang until no other is begun. */
  private static final int HANGING = 32;

  private final RemoteFiles files;
  private final long timeoutMillis;
  private final CircuitBreaker breaker;
  private final ThreadPoolExecutor threads;

  /**
   * @param atATime how many operations its users begin at a time
   * @param clock milliseconds that only grow
   */
  GuardedFiles(RemoteFiles files, long timeoutMillis, int atATime, LongSupplier clock) {
    this.files = files;
    this.timeoutMillis = timeoutMillis;
    this.breaker = new CircuitBreaker(clock);
    this.threads =
        new ThreadPoolExecutor(
            0,
            atATime + HANGING,
            10,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            work -> {
              Thread thread = new Thread(work, "remote-tier-files");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Whether an operation begun now would be tried. */
  boolean isReady() {
    return breaker.isReady();
  }

  /** An operation, and what is to be done if it ends after it was given up. */
  private <T> T run(String name, Callable<T> operation, Callable<?> afterwards) throws IOException {
    if (!breaker.begin()) {
      throw new RemoteUnreachableException("the remote file system failed before");
    }
    AtomicBoolean ended = new AtomicBoolean();
    FutureTask<T> task =
        new FutureTask<>(
            () -> {
              try {
                return operation.call();
              } finally {
                if (!ended.compareAndSet(false, true)) {
                  tidy(name, afterwards);
                }
              }
            });
    try {
      threads.execute(task);
      return await(name, task, ended);
    } catch (RejectedExecutionException e) {
      throw failed(new IOException("none of the operations under way ends"));
    }
  }

  private <T> T await(String name, FutureTask<T> task, AtomicBoolean ended) throws IOException {
    try {
      T result = get(task, ended);
      breaker.succeeded();
      return result;
    } catch (TimeoutException e) {
      String message = name + ": no answer in " + timeoutMillis + " ms";
      throw failed(new RemoteTimeoutException(message));
    } catch (InterruptedException e) {
      task.cancel(true);
      Thread.currentThread().interrupt();
      throw failed(new InterruptedIOException("interrupted"));
    } catch (ExecutionException e) {
      if (e.getCause() instanceof NoSuchFileException absent) {
        breaker.succeeded();
        throw absent;
      }
      throw failed(
          e.getCause() instanceof IOException io ? io : new IOException(name, e.getCause()));
    }
  }

  private <T> T get(FutureTask<T> task, AtomicBoolean ended)
      throws InterruptedException, ExecutionException, TimeoutException {
    try {
      return task.get(timeoutMillis, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      if (ended.compareAndSet(false, true)) {
        task.cancel(true);
        throw e;
      }
      return task.get();
    }
  }

  private <E extends IOException> E failed(E failure) {
    if (breaker.failed()) {
      LOG.warn("The remote tier is not used for a while: {}", failure.toString());
    }
    return failure;
  }

  private static void tidy(String name, Callable<?> afterwards) {
    // what interrupted the operation must not interrupt this
    Thread.interrupted();
    try {
      afterwards.call();
    } catch (Exception e) {
      LOG.warn("{} was written too late and is not deleted: {}", name, e.toString());
    }
  }

  @Override
  public boolean exists(String name) throws IOException {
    return run(name, () -> files.exists(name), () -> null);
  }

  @Override
  public int read(String name, ByteBuffer into) throws IOException {
    return run(name, () -> files.read(name, into), () -> null);
  }

  @Override
  public void create(String name, ByteBuffer bytes) throws IOException {
    create(
        name,
        bytes,
        () -> {
          files.delete(name);
          return null;
        });
  }

  /** As {@link #create}, of what others may count on as soon as it is there: it is not deleted. */
  void createToStay(String name, ByteBuffer bytes) throws IOException {
    create(name, bytes, () -> null);
  }

  private void create(String name, ByteBuffer bytes, Callable<?> afterwards) throws IOException {
    run(
        name,
        () -> {
          files.create(name, bytes);
          return null;
        },
        afterwards);
  }

  @Override
  public void delete(String name) throws IOException {
    run(
        name,
        () -> {
          files.delete(name);
          return null;
        },
        () -> null);
  }

  @Override
  public List<RemoteObject> list(String folder) throws IOException {
    return run(folder, () -> files.list(folder), () -> null);
  }

  @Override
  public void deleteFolder(String folder) throws IOException {
    run(
        folder,
        () -> {
          files.deleteFolder(folder);
          return null;
        },
        () -> null);
  }

  /** Operations under way fail, or are not waited for. */
  @Override
  public void close() throws IOException {
    threads.shutdownNow();
    files.close();
  }
}
