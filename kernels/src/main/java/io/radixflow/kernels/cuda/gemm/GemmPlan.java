package io.radixflow.kernels.cuda.gemm;

import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.kernels.device.GpuMode;

/**
 * Chooses the kernel for a product by an estimate of its time, in clock cycles of a multiprocessor.
 *
 * <p>The blocks of a multiprocessor share its tensor cores and its share of the L2 cache's
 * bandwidth. A block also cannot be faster than its stages, which run one after another. The rates
 * for bf16 weights are fitted to the times of all tiles on an H200, for ten matrices and 1 to 1,024
 * rows. On average the chosen tile is less than 1 % slower there than the fastest one. The rates
 * are meant for comparing tiles, not for predicting times. Tiles with more than twice the rows of
 * the product are excluded, as they were in the fit. In deterministic mode every choice gives the
 * same bits.
 */
public final class GemmPlan {

  /**
   * Rates of a multiprocessor and of a block.
   *
   * @param l2Bytes bytes per clock from the L2 cache to one multiprocessor
   * @param multiplyAdds multiply-adds per clock of one multiprocessor
   * @param stage clocks per stage, without its products
   * @param product clocks per product in a chain of products
   */
  private record Rates(double l2Bytes, double multiplyAdds, double stage, double product) {}

  private static final Rates MMA = new Rates(61, 1770, 500, 15);
  private static final Rates WGMMA = new Rates(61, 2080, 78, 9.5);

  /** For weights in groups. Fitted to Q4_K and Q8_0, four matrices and 1 to 256 rows. */
  private static final Rates QUANTISED = new Rates(35, 1090, 295, 19);

  /**
   * From this number of rows on, a quantised matrix is unpacked to memory. On an H200, unpacking
   * was slower by a tenth to a third for 128 rows, and faster by a fifth to a third for 256 rows.
   */
  private static final int UNPACKED_ROWS = 192;

  /** Rows of the smallest tiles. */
  private static final int LOWEST_ROWS = 8;

  private final GpuMode mode;
  private final int processors;
  private final boolean hopper;
  private final int sharedBytesOfBlock;
  private final int sharedBytesOfProcessor;

  /**
   * @param processors number of multiprocessors of the device
   * @param hopper whether its compute capability is 9.0
   * @param sharedBytesOfBlock largest dynamic shared memory of a block
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
   * The kernel for up to {@code rows} rows and a matrix of {@code features} times {@code depth}.
   *
   * @throws IllegalArgumentException if no kernel supports the matrix, or no kernel fits on the
   *     device
   */
  public GemmKernel kernel(WeightFormat format, int rows, int features, int depth) {
    if (depth % 8 != 0) {
      throw new IllegalArgumentException(
          "a matrix with " + depth + " columns; the CUDA kernels support multiples of 8");
    }
    int most = Math.max(LOWEST_ROWS, 2 * rows);
    GemmKernel best = null;
    double least = Double.POSITIVE_INFINITY;
    for (GemmKernel kernel : GemmKernel.values()) {
      if (kernel.format() == format && kernel.rows() <= most && allowed(kernel)) {
        double clocks = clocks(kernel, rows, features, depth);
        if (clocks < least) {
          least = clocks;
          best = kernel;
        }
      }
    }
    if (best == null) {
      throw new IllegalArgumentException(
          "no product kernel fits into " + sharedBytesOfBlock + " bytes of shared memory");
    }
    return best;
  }

  /** Returns whether a matrix should be unpacked to bf16 for a product with {@code rows} rows. */
  static boolean unpacks(WeightFormat format, int rows) {
    return format.quantised() && rows >= UNPACKED_ROWS;
  }

  /** Returns whether this mode and device can use the kernel. */
  public boolean allowed(GemmKernel kernel) {
    return (mode == GpuMode.FAST || kernel.deterministic())
        && (hopper || !kernel.hopper())
        && kernel.sharedBytes() <= sharedBytesOfBlock;
  }

  private static Rates rates(GemmKernel kernel) {
    if (kernel.format().quantised()) {
      return QUANTISED;
    }
    return kernel.hopper() ? WGMMA : MMA;
  }

  private double clocks(GemmKernel kernel, int rows, int features, int depth) {
    Rates rates = rates(kernel);
    long blocks = (long) kernel.gridX(features) * kernel.gridY(rows);
    double weights = kernel.features() * kernel.format().bytesPerWeight();
    double bytes = (weights + kernel.rows() * Short.BYTES) * depth / rates.l2Bytes;
    double products = (double) kernel.features() * kernel.rows() * depth / rates.multiplyAdds;
    long turns = (blocks + processors - 1) / processors;
    int resident = Math.max(1, sharedBytesOfProcessor / (kernel.sharedBytes() + 1024));
    long waves = (turns + resident - 1) / resident;
    double stages = Math.ceil((double) depth / kernel.stageDepth());
    double latency = stages * (rates.stage + rates.product * kernel.chain());
    return Math.max(turns * Math.max(bytes, products), waves * latency);
  }
}
