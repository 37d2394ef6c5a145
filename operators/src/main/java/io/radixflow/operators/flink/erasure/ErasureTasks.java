package io.radixflow.operators.flink.erasure;

import io.radixflow.operators.flink.engine.EngineTiers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the work of erasures outside the task's thread, takes its results in the mailbox, and tries
 * failed erasures again: after a while, and when a detached disk is attached.
 */
final class ErasureTasks implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ErasureTasks.class);
  private static final long RETRY_SECONDS = 10;

  private final EngineTiers tiers;
  private final MailboxExecutor mailbox;
  private final Executor later;
  private final Runnable all;
  private final Runnable retry = () -> post(this::retry);
  private boolean retrying;

  /**
   * Returns an executor that runs a failed erasure again when {@code RETRY_SECONDS} have passed.
   */
  static Executor afterAWhile() {
    return CompletableFuture.delayedExecutor(RETRY_SECONDS, TimeUnit.SECONDS);
  }

  /**
   * @param later runs a task on any thread after a while
   * @param all starts all pending erasures again; called by the task's thread
   */
  ErasureTasks(EngineTiers tiers, MailboxExecutor mailbox, Executor later, Runnable all) {
    this.tiers = tiers;
    this.mailbox = mailbox;
    this.later = later;
    this.all = all;
    tiers.onDiskAttached(retry);
  }

  /**
   * Runs a task in the mailbox when the engine has finished an erasure.
   *
   * @param work completes with true if a disk was erased
   * @param then gets true if no disk is left to erase
   */
  void whenErased(CompletableFuture<Boolean> work, Consumer<Boolean> then) {
    work.whenComplete(
        (disk, failure) -> {
          if (failure == null) {
            post(() -> then.accept(disk || !tiers.hasDisk()));
          } else {
            LOG.warn("Pages are not erased yet; retrying", failure);
            post(this::retryLater);
          }
        });
  }

  /** Runs a task in the mailbox. Any thread. */
  void post(Runnable task) {
    try {
      mailbox.execute(task::run, "erasure of pages");
    } catch (RejectedExecutionException closing) {
      LOG.debug("The task closes; a checkpoint has the erasure", closing);
    }
  }

  private void retryLater() {
    if (!retrying) {
      retrying = true;
      later.execute(retry);
    }
  }

  private void retry() {
    retrying = false;
    all.run();
  }

  @Override
  public void close() {
    tiers.removeListener(retry);
  }
}
