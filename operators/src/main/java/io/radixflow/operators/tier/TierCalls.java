package io.radixflow.operators.tier;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** Reaches an engine's tiers from a thread that may wait. */
public final class TierCalls {
  private static final long PAUSE_MILLIS = 2;

  private final OnTiers tiers;
  private final long patienceMillis;

  /** Does something with an engine's tiers, on the engine's thread. */
  @FunctionalInterface
  public interface OnTiers {
    <T> CompletableFuture<T> run(Function<Tiers, T> task);
  }

  /**
   * @param patienceMillis how long is waited for anything
   */
  public TierCalls(OnTiers tiers, long patienceMillis) {
    this.tiers = tiers;
    this.patienceMillis = patienceMillis;
  }

  /**
   * Does something on the engine's thread and waits for the result.
   *
   * @throws TimeoutException if the engine's thread does not come to it
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
          "the engine did not come to it for %d ms; try again".formatted(patienceMillis));
    }
  }

  /**
   * Does something on the engine's thread again and again, until it has a result.
   *
   * @param task gives null as long as it cannot be done
   * @throws TimeoutException if it could not be done all the time
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
}
