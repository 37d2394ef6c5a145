package io.radixflow.engine.tier.host;

import io.radixflow.kernels.device.HostPages;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Moves pages from host memory to other memory of another size. */
public final class HostMove {
  private final HostPages from;
  private final HostPages to;
  private final Map<HostPage, Integer> slots;
  private final List<int[]> copies = new ArrayList<>();
  private boolean finished;

  private HostMove(HostPages from, HostPages to, Map<HostPage, Integer> slots) {
    this.from = from;
    this.to = to;
    this.slots = slots;
    slots.forEach((entry, slot) -> copies.add(new int[] {entry.slot, slot}));
  }

  /**
   * Engine thread.
   *
   * @throws IllegalArgumentException if more pages are locked than fit
   */
  public static HostMove plan(HostTier host, HostPages to) {
    Map<HostPage, Integer> slots = host.slotsIn(to);
    if (slots == null) {
      throw new IllegalArgumentException(
          "turns that wait have %d pages locked, more than the %d pages of the new size"
              .formatted(host.locked(), to.pages()));
    }
    return new HostMove(host.memory(), to, slots);
  }

  public int pages() {
    return copies.size();
  }

  /** Copies the pages; any thread, while host memory is held. */
  public void copy() {
    for (int[] copy : copies) {
      ByteBuffer source = from.buffer(copy[0]);
      to.buffer(copy[1]).put(source);
    }
  }

  /** Uses the other memory from here; engine thread, when no page is being read or filled. */
  public void finish(HostTier host) {
    finished = true;
    host.moveTo(to, slots).close();
  }

  /** Returns whether the pages have moved; engine thread. */
  public boolean isFinished() {
    return finished;
  }
}
