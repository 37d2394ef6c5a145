package io.radixflow.operators.tier;

import io.radixflow.kernels.device.HostPages;
import io.radixflow.operators.tier.host.HostMove;
import java.util.concurrent.TimeoutException;

/**
 * Resizes host memory while the engine runs: what fits is copied to the new memory, and turns do
 * without host memory until that is done. During that time both memories are allocated. Called by a
 * thread that may wait.
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
   * @throws IllegalArgumentException if the memory cannot be allocated or is too small; nothing has
   *     changed then
   * @throws TimeoutException if pages were on their way all the time, or the engine was busy;
   *     nothing has changed then, unless the engine comes to it later
   */
  public int run(long bytes, boolean hold) throws TimeoutException, InterruptedException {
    boolean heldBefore = tiers.call(each -> each.switches().isHostHeld());
    HostPages memory = tiers.call(Tiers::switches).openHost(bytes);
    HostMove move = null;
    try {
      hold(true);
      move = tiers.poll(each -> each.switches().planMove(memory));
      move.copy();
      finish(move);
      return move.pages();
    } finally {
      end(move, memory, hold, heldBefore);
    }
  }

  private void finish(HostMove move) throws TimeoutException, InterruptedException {
    tiers.poll(each -> each.switches().finish(move) ? true : null);
  }

  private void hold(boolean value) throws TimeoutException, InterruptedException {
    tiers.call(
        each -> {
          each.switches().holdHost(value);
          return value;
        });
  }

  /**
   * Closes one of both memories. A call that timed out may have run since: only the engine thread
   * knows, which runs this after it.
   *
   * @param move null if there is none
   */
  private void end(HostMove move, HostPages memory, boolean hold, boolean heldBefore)
      throws TimeoutException, InterruptedException {
    tiers.call(
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
