package io.radixflow.operators.tier;

import io.radixflow.kernels.device.HostPages;
import java.util.concurrent.TimeoutException;

/**
 * Gives host memory another size while the engine goes on: what fits is copied to the new memory,
 * and turns do without host memory until that is done. For that time old and new memory are both
 * there. Called by a thread that may wait.
 */
public final class HostResize {
  private final TierCalls tiers;

  public HostResize(TierCalls tiers) {
    this.tiers = tiers;
  }

  /**
   * @param bytes the new size; 0 for one page
   * @param hold whether host memory is not used afterwards
   * @return how many pages were kept
   * @throws IllegalArgumentException if the memory is not to be had, or too small; nothing has
   *     changed then
   * @throws TimeoutException if pages were on their way all the time; nothing has changed then
   */
  public int run(long bytes, boolean hold) throws TimeoutException, InterruptedException {
    boolean heldBefore = tiers.call(HiRadixCache::isHostHeld);
    HiRadixCache cache = tiers.call(each -> each);
    HostPages memory = cache.openHost(bytes);
    boolean moved = false;
    try {
      hold(true);
      HostMove move = tiers.poll(each -> each.planMove(memory));
      move.copy();
      moved = tiers.poll(each -> each.finish(move) ? true : null);
      return move.pages();
    } finally {
      hold(moved ? hold : heldBefore);
      if (!moved) {
        memory.close();
      }
    }
  }

  private void hold(boolean value) throws TimeoutException, InterruptedException {
    tiers.call(
        each -> {
          each.holdHost(value);
          return value;
        });
  }
}
