package io.radixflow.engine.tier;

import io.radixflow.engine.tier.host.HostMove;
import io.radixflow.kernels.device.HostPages;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** Calls and changes an engine's tiers from a thread that may wait. */
public final class TierCalls {
  private static final long PAUSE_MILLIS = 2;

  private final OnTiers tiers;
  private final long patienceMillis;

  /** Runs tasks with an engine's tiers on the engine thread. */
  @FunctionalInterface
  public interface OnTiers {
    <T> CompletableFuture<T> run(Function<Tiers, T> task);
  }

  /**
   * @param patienceMillis the longest wait for a task
   */
  public TierCalls(OnTiers tiers, long patienceMillis) {
    this.tiers = tiers;
    this.patienceMillis = patienceMillis;
  }

  /**
   * Runs a task on the engine thread and waits for its result.
   *
   * @throws TimeoutException if the engine thread does not run it in time
   */
  public <T> T call(Function<Tiers, T> task) throws TimeoutException, InterruptedException {
    return await(tiers.run(task));
  }

  /**
   * Waits for a result.
   *
   * @throws TimeoutException if it does not come
   */
  public <T> T await(CompletableFuture<T> result) throws TimeoutException, InterruptedException {
    try {
      return result.get(patienceMillis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      throw new TimeoutException(
          "the engine was busy for %d ms; try again".formatted(patienceMillis));
    }
  }

  /**
   * Runs a task on the engine thread repeatedly, until it has a result.
   *
   * @param task gives null as long as it cannot be done
   * @throws TimeoutException if it had none in time
   */
  public <T> T poll(Function<Tiers, T> task) throws TimeoutException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMillis);
    T result = call(task);
    while (result == null) {
      if (System.nanoTime() > deadline) {
        throw new TimeoutException(
            "pages were on their way for %d ms; try again".formatted(patienceMillis));
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      result = call(task);
    }
    return result;
  }

  /**
   * Resizes host memory while the engine runs: what fits is copied to the new memory, and turns do
   * without host memory until that is done. During that time both memories are allocated.
   *
   * @param bytes the new size; 0 for one page
   * @param hold whether host memory is not used afterwards
   * @return how many pages were kept
   * @throws IllegalArgumentException if the memory cannot be allocated or is too small; nothing has
   *     changed then
   * @throws TimeoutException if pages were on their way all the time, or the engine was busy;
   *     nothing has changed then, unless the engine runs the task later
   */
  public int resizeHost(long bytes, boolean hold) throws TimeoutException, InterruptedException {
    boolean heldBefore = call(each -> each.switches().isHostHeld());
    HostPages memory = call(Tiers::switches).openHost(bytes);
    HostMove move = null;
    try {
      call(each -> each.switches().holdHost(true));
      move = poll(each -> each.switches().planMove(memory));
      move.copy();
      HostMove copied = move;
      poll(each -> each.switches().finish(copied) ? true : null);
      return move.pages();
    } finally {
      closeOne(move, memory, hold, heldBefore);
    }
  }

  /**
   * Closes one of both memories. A call that timed out may have run since: only the engine thread
   * knows, which runs this after it.
   *
   * @param move null if there is none
   */
  private void closeOne(HostMove move, HostPages memory, boolean hold, boolean heldBefore)
      throws TimeoutException, InterruptedException {
    call(
        each -> {
          boolean moved = move != null && move.isFinished();
          each.switches().holdHost(moved ? hold : heldBefore);
          if (!moved) {
            memory.close();
          }
          return moved;
        });
  }
}
