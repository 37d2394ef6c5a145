package io.radixflow.kernels.cuda.gemm;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.models.FeedForward.Dense;
import java.util.List;

/**
 * A product of many matrices of one shape, which are stored consecutively, each with its own rows.
 * It uses a kernel of gemm.cuh or gemm_quantised.cuh.
 */
public final class GroupedProduct {

  private final KernelModule module;
  private final CudaMatrix first;
  private final int matrices;
  private final DeviceMemory source;
  private final DeviceMemory target;

  public GroupedProduct(
      KernelModule module, List<CudaMatrix> matrices, DeviceMemory source, DeviceMemory target) {
    this.module = module;
    first = matrices.get(0);
    this.matrices = matrices.size();
    this.source = source;
    this.target = target;
  }

  /** The largest number of tiles for up to {@code choices} choices among {@code groups} experts. */
  public static int mostTiles(int choices, int groups, int tileRows) {
    return choices / tileRows + Math.min(groups, choices);
  }

  /** The number of rows per tile that suits {@code rowsOfMatrix} rows per matrix: 8, 16 or 64. */
  public static int tileRows(int rowsOfMatrix) {
    return rowsOfMatrix <= 8 ? 8 : rowsOfMatrix <= 24 ? 16 : 64;
  }

  /** The kernel whose tiles have {@code tileRows} rows. */
  private GemmKernel kernel(int tileRows) {
    for (GemmKernel kernel : GemmKernel.values()) {
      if (kernel.format() == first.format()
          && kernel.rows() == tileRows
          && kernel.deterministic()) {
        return kernel;
      }
    }
    throw new IllegalArgumentException("no product of " + first.format() + " for experts");
  }

  /**
   * A product of tiles of rows, each of which has its own matrix.
   *
   * @param tiles four integers per tile, on the device: matrix, first row, number of rows, unused
   * @param tileCount the number of tiles, on the device
   * @param gather the row of the source for each row of the target, or null for the same row
   * @param mostTiles number of tiles that the grid has room for
   * @param gated how the gate and up projections are combined; null for plain sums in f32
   */
  public KernelLaunch ofTiles(
      DeviceMemory tiles,
      DeviceMemory tileCount,
      DeviceMemory gather,
      int tileRows,
      int mostTiles,
      Dense gated) {
    GemmKernel kernel = kernel(tileRows);
    KernelLaunch launch =
        launch(kernel)
            .grid(kernel.gridX(first.rows()), mostTiles, 1)
            .pointer(tiles)
            .pointer(tileCount)
            .pointerOrNull(gather);
    return gated == null
        ? end(launch, GemmEpilogue.LOGITS, 0, first.columns(), 0, first.rows(), 0)
        : end(
            launch,
            GemmEpilogue.of(gated.gating()),
            gated.limit(),
            first.columns(),
            0,
            first.rows() / 2,
            0);
  }

  /**
   * The product of each matrix with its own part of every row, in bf16.
   *
   * @param step the step's metadata, which begins with the number of rows
   * @param rows number of rows that the grid has room for
   * @param width elements of a matrix's part of a row of the source
   * @param targetWidth elements of a matrix's part of a row of the target
   */
  public KernelLaunch ofHeads(DeviceMemory step, int rows, int width, int targetWidth) {
    GemmKernel kernel = kernel(tileRows(rows));
    KernelLaunch launch =
        launch(kernel)
            .grid(kernel.gridX(first.rows()), kernel.gridY(rows), matrices)
            .nullPointer()
            .pointer(step)
            .nullPointer();
    return end(
        launch,
        GemmEpilogue.PLAIN,
        0,
        matrices * width,
        width,
        matrices * targetWidth,
        targetWidth);
  }

  private KernelLaunch launch(GemmKernel kernel) {
    long matrixBytes = first.format().bytes(first.rows(), first.columns());
    return GemmLaunch.operands(module, kernel, first, matrixBytes, source, target, 0, first.bias());
  }

  /** Appends the parameters after tiles, count and gather. */
  private KernelLaunch end(
      KernelLaunch launch,
      GemmEpilogue epilogue,
      float bound,
      int stride,
      int offset,
      int targetStride,
      int targetOffset) {
    return GemmLaunch.shape(
        launch, first, epilogue, 1, bound, stride, offset, targetStride, targetOffset);
  }
}
