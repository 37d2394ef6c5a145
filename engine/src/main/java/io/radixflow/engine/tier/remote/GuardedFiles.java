package io.radixflow.engine.tier.remote;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.store.TransferThreads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remote files that answer in time or fail: each operation runs on its own thread and is abandoned
 * if it takes too long ({@link MissReason#TIMEOUT}); a file system that fails repeatedly is not
 * used for a while ({@link MissReason#UNREACHABLE}).
 *
 * <p>An abandoned operation may continue. The owner of its buffer must not use the buffer until the
 * operation has ended. If the operation still creates an object, the object is deleted again.
 */
final class GuardedFiles implements RemoteFiles {
  private static final Logger LOG = LoggerFactory.getLogger(GuardedFiles.class);

  /** The number of hanging operations after which no other operation is started. */
  private static final int HANGING = 32;

  private static final Action NOTHING = () -> {};

  /** An operation without a result. */
  private interface Action {
    void run() throws IOException;
  }

  private final RemoteFiles files;
  private final long timeoutMillis;
  private final CircuitBreaker breaker;
  private final ThreadPoolExecutor threads;

  /**
   * @param atATime how many operations the users of this object run at a time
   * @param clock milliseconds that never decrease
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
            TransferThreads.named("remote-tier-files"));
  }

  /** Returns whether an operation would be tried now. */
  boolean isReady() {
    return breaker.isReady();
  }

  /**
   * Runs an operation on its own thread.
   *
   * @param ifLate runs on that thread if the operation ends after it was abandoned
   */
  private <T> T call(String name, Callable<T> operation, Action ifLate) throws IOException {
    if (!breaker.begin()) {
      throw new RemoteMissException(MissReason.UNREACHABLE, "the remote file system failed before");
    }
    CompletableFuture<T> answer = new CompletableFuture<>();
    Future<?> running;
    try {
      running = threads.submit(() -> answer(name, operation, answer, ifLate));
    } catch (RejectedExecutionException e) {
      throw failed(new IOException("all threads for the remote file system hang"));
    }
    try {
      T result = answer.orTimeout(timeoutMillis, TimeUnit.MILLISECONDS).get();
      breaker.succeeded();
      return result;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      answer.cancel(false);
      running.cancel(true);
      throw failed(new RemoteMissException(MissReason.TIMEOUT, name + ": interrupted"));
    } catch (ExecutionException e) {
      if (e.getCause() instanceof NoSuchFileException absent) {
        breaker.succeeded();
        throw absent;
      }
      if (e.getCause() instanceof TimeoutException) {
        running.cancel(true);
        String message = name + ": no answer in " + timeoutMillis + " ms";
        throw failed(new RemoteMissException(MissReason.TIMEOUT, message));
      }
      throw failed(
          e.getCause() instanceof IOException io ? io : new IOException(name, e.getCause()));
    }
  }

  /** Completes {@code answer}, unless the operation was abandoned in the meantime. */
  private static <T> void answer(
      String name, Callable<T> operation, CompletableFuture<T> answer, Action ifLate) {
    boolean inTime;
    try {
      inTime = answer.complete(operation.call());
    } catch (Exception | Error e) {
      inTime = answer.completeExceptionally(e);
    }
    if (!inTime) {
      // the interrupt was meant for the operation, not for the clean-up
      Thread.interrupted();
      try {
        ifLate.run();
      } catch (IOException | RuntimeException e) {
        LOG.warn("{} was written too late and is not deleted: {}", name, e.toString());
      }
    }
  }

  private <E extends IOException> E failed(E failure) {
    if (breaker.failed()) {
      LOG.warn("The remote tier is not used for a while: {}", failure.toString());
    }
    return failure;
  }

  private void run(String name, Action action, Action ifLate) throws IOException {
    call(
        name,
        () -> {
          action.run();
          return null;
        },
        ifLate);
  }

  @Override
  public boolean exists(String name) throws IOException {
    return call(name, () -> files.exists(name), NOTHING);
  }

  @Override
  public int read(String name, ByteBuffer into) throws IOException {
    return call(name, () -> files.read(name, into), NOTHING);
  }

  @Override
  public void create(String name, ByteBuffer bytes) throws IOException {
    run(name, () -> files.create(name, bytes), () -> files.delete(name));
  }

  @Override
  public void delete(String name) throws IOException {
    run(name, () -> files.delete(name), NOTHING);
  }

  @Override
  public List<RemoteObject> list(String folder) throws IOException {
    return call(folder, () -> files.list(folder), NOTHING);
  }

  @Override
  public void deleteFolder(String folder) throws IOException {
    run(folder, () -> files.deleteFolder(folder), NOTHING);
  }

  /** Interrupts operations in flight and does not wait for them. */
  @Override
  public void close() throws IOException {
    threads.shutdownNow();
    files.close();
  }
}
