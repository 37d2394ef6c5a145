package io.radixflow.kernels.cuda.gemm;

import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.kernels.device.GpuMode;

/**
 * Picks the kernel for a product by an estimate of its time in clocks of a multiprocessor.
 *
 * <p>A multiprocessor's blocks take turns at its share of the L2 cache's bandwidth and its tensor
 * cores, and a block cannot be faster than its stages, which follow one another. The rates follow
 * from figures published for the H100 and H200; they are not measured, order the tiles, and predict
 * no times. In deterministic mode any choice gives the same bits.
 */
public final class GemmPlan {

  /** Bytes a clock from the L2 cache to one multiprocessor while all read. */
  private static final double L2_BYTES = 32;

  /** Multiply-adds a clock of one multiprocessor by mma.sync, and by wgmma without tensor maps. */
  private static final double MMA = 1200;

  private static final double WGMMA = 1500;

  /** Clocks of a stage without its products, and of one product in a chain of them. */
  private static final double STAGE = 120;

  private static final double PRODUCT = 33;

  private final GpuMode mode;
  private final int processors;
  private final boolean hopper;
  private final int sharedBytesOfBlock;
  private final int sharedBytesOfProcessor;

  /**
   * @param processors multiprocessors of the device
   * @param hopper whether its compute capability is 9.0
   * @param sharedBytesOfBlock the most dynamic shared memory of a block
   * @param sharedBytesOfProcessor shared memory of a multiprocessor
   */
  public GemmPlan(
      GpuMode mode,
      int processors,
      boolean hopper,
      int sharedBytesOfBlock,
      int sharedBytesOfProcessor) {
    this.mode = mode;
    this.processors = processors;
    this.hopper = hopper;
    this.sharedBytesOfBlock = sharedBytesOfBlock;
    this.sharedBytesOfProcessor = sharedBytesOfProcessor;
  }

  /** The kernel for bf16 weights. */
  GemmKernel kernel(int rows, int features, int depth) {
    return kernel(WeightFormat.BF16, rows, features, depth);
  }

  /**
   * The kernel for up to so many rows and a matrix of {@code features} times {@code depth}.
   *
   * @throws IllegalArgumentException if no kernel knows such a matrix, or fits the device
   */
  public GemmKernel kernel(WeightFormat format, int rows, int features, int depth) {
    if (depth % 8 != 0) {
      throw new IllegalArgumentException(
          "a matrix with " + depth + " columns; the CUDA kernels know multiples of 8");
    }
    GemmKernel best = null;
    double least = Double.POSITIVE_INFINITY;
    for (GemmKernel kernel : GemmKernel.values()) {
      if (kernel.format() == format && allowed(kernel)) {
        double clocks = clocks(kernel, rows, features, depth);
        if (clocks < least) {
          least = clocks;
          best = kernel;
        }
      }
    }
    if (best == null) {
      throw new IllegalArgumentException(
          "no product's kernel fits into " + sharedBytesOfBlock + " bytes of shared memory");
    }
    return best;
  }

  /** Returns whether this mode and device can use the kernel. */
  public boolean allowed(GemmKernel kernel) {
    return (mode == GpuMode.FAST || kernel.deterministic())
        && (hopper || !kernel.hopper())
        && kernel.sharedBytes() <= sharedBytesOfBlock;
  }

  private double clocks(GemmKernel kernel, int rows, int features, int depth) {
    long blocks = (long) kernel.gridX(features) * kernel.gridY(rows);
    double weights = kernel.features() * kernel.format().bytesPerWeight();
    double bytes = (weights + kernel.rows() * Short.BYTES) * depth / L2_BYTES;
    double products =
        (double) kernel.features() * kernel.rows() * depth / (kernel.hopper() ? WGMMA : MMA);
    long turns = (blocks + processors - 1) / processors;
    int resident = Math.max(1, sharedBytesOfProcessor / (kernel.sharedBytes() + 1024));
    long waves = (turns + resident - 1) / resident;
    double stages = Math.ceil((double) depth / kernel.stageDepth());
    double latency = stages * (STAGE + PRODUCT * kernel.chain());
    return Math.max(turns * Math.max(bytes, products), waves * latency);
  }
}
