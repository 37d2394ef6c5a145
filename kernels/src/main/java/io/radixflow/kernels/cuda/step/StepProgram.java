package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.pages.PageTransfers;
import java.util.List;

/**
 * The launches of a step's forward pass, in order, with room for a fixed number of rows. The number
 * of valid rows is in device memory. The submitting thread uses it.
 */
public final class StepProgram {

  /**
   * The properties of a step that decide which kernels it needs.
   *
   * @param rows number of rows that the grids have room for
   * @param keys whether there are tiles of the attention kernel whose warps split the keys
   * @param packed whether there are tiles of the attention kernel whose warps split the rows
   */
  public record Key(int rows, boolean keys, boolean packed) {}

  private final KernelLaunch[] launches;
  private final int[] attendFrom;

  /**
   * @param attendFrom for each layer, the first launch that reads pages of earlier steps
   */
  StepProgram(List<KernelLaunch> launches, int[] attendFrom) {
    this.launches = launches.toArray(KernelLaunch[]::new);
    this.attendFrom = attendFrom;
  }

  /** Queues the step; each layer waits for its pages. */
  void run(CudaStream stream, PageTransfers loading) {
    int layer = 0;
    for (int i = 0; i < launches.length; i++) {
      if (layer < attendFrom.length && attendFrom[layer] == i) {
        loading.awaitLayer(layer++);
      }
      launches[i].on(stream);
    }
    loading.awaited();
  }

  /** Queues the step. */
  public void run(CudaStream stream) {
    for (KernelLaunch launch : launches) {
      launch.on(stream);
    }
  }
}
