package io.radixflow.kernels.cuda;

import java.util.List;

/**
 * The launches of a step's forward pass, in order, configured for up to so many rows; how many are
 * valid lies on the device. Used by the thread that submits.
 */
final class StepProgram {

  /**
   * What decides which kernels a step needs.
   *
   * @param rows rows that the grids have room for
   * @param keys whether there are attention tiles of the kernel whose warps share out keys
   * @param packed whether there are tiles of the kernel whose warps share out rows
   */
  record Key(int rows, boolean keys, boolean packed) {}

  private final KernelLaunch[] launches;

  StepProgram(List<KernelLaunch> launches) {
    this.launches = launches.toArray(KernelLaunch[]::new);
  }

  /** Queues the step. */
  void run(CudaStream stream) {
    for (KernelLaunch launch : launches) {
      launch.on(stream);
    }
  }
}
