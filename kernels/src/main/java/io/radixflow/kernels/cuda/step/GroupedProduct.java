package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.kernels.model.FeedForward.Dense;
import java.util.List;

/**
 * Launches of the kernels of gemm_grouped.cuh: many matrices of one shape, which lie one behind
 * another, each times rows of its own.
 */
final class GroupedProduct {

  private GroupedProduct() {}

  /** The most tiles of up to so many choices of {@code groups} experts. */
  static int mostTiles(int choices, int groups, int tileRows) {
    return choices / tileRows + Math.min(groups, choices);
  }

  /** Rows of the tiles that suit so many rows of each matrix: 8, 16 or 64. */
  static int tileRows(int rowsOfMatrix) {
    return rowsOfMatrix <= 8 ? 8 : rowsOfMatrix <= 24 ? 16 : 64;
  }

  /** The kernel whose tiles have so many rows. */
  static GemmKernel kernel(CudaMatrix matrix, int tileRows) {
    for (GemmKernel kernel : GemmKernel.values()) {
      if (kernel.format() == matrix.format()
          && kernel.rows() == tileRows
          && kernel.deterministic()) {
        return kernel;
      }
    }
    throw new IllegalArgumentException("no product of " + matrix.format() + " for experts");
  }

  /**
   * A product of tiles of rows, each with a matrix of its own. The caller adds nothing more.
   *
   * @param tiles the tiles, and how many there are
   * @param gather the row of the source for each row of the target, or null for the same
   * @param mostTiles tiles that the grid has room for
   * @param gated how the matrices' gate and up projections become one; null for plain sums, f32
   */
  static KernelLaunch ofTiles(
      KernelModule module,
      List<CudaMatrix> matrices,
      int tileRows,
      int mostTiles,
      ExpertBuffers.Groups tiles,
      DeviceMemory gather,
      DeviceMemory source,
      DeviceMemory target,
      Dense gated) {
    CudaMatrix first = matrices.get(0);
    GemmKernel kernel = kernel(first, tileRows);
    GemmEpilogue epilogue = gated == null ? GemmEpilogue.LOGITS : GemmEpilogue.of(gated.gating());
    float bound = gated == null ? 0 : gated.limit();
    int width = gated == null ? first.rows() : first.rows() / 2;
    KernelLaunch launch =
        start(module, kernel, first, source, target)
            .grid(kernel.gridX(first.rows()), mostTiles, 1)
            .pointer(tiles.tiles())
            .pointer(tiles.tileCount())
            .pointerOrNull(gather);
    return shape(launch, first, epilogue, bound)
        .integer(first.columns())
        .integer(0)
        .integer(width)
        .integer(0);
  }

  /**
   * A product of each matrix with its part of all rows. The caller appends tiles (none), the number
   * of rows, gather, {@link #shape}, and where the parts lie.
   *
   * @param rows rows that the grid has room for
   */
  static KernelLaunch ofHeads(
      KernelModule module,
      List<CudaMatrix> matrices,
      int rows,
      DeviceMemory source,
      DeviceMemory target) {
    CudaMatrix first = matrices.get(0);
    GemmKernel kernel = kernel(first, tileRows(rows));
    return start(module, kernel, first, source, target)
        .grid(kernel.gridX(first.rows()), kernel.gridY(rows), matrices.size());
  }

  private static KernelLaunch start(
      KernelModule module,
      GemmKernel kernel,
      CudaMatrix first,
      DeviceMemory source,
      DeviceMemory target) {
    return module
        .launch(kernel.groupedFunction())
        .block(kernel.threads())
        .shared(kernel.sharedBytes())
        .pointer(first.weights())
        .wide(first.format().bytes(first.rows(), first.columns()))
        .pointer(source)
        .pointer(target);
  }

  static KernelLaunch shape(KernelLaunch launch, CudaMatrix first, GemmEpilogue epilogue) {
    return shape(launch, first, epilogue, 0);
  }

  private static KernelLaunch shape(
      KernelLaunch launch, CudaMatrix first, GemmEpilogue epilogue, float bound) {
    return launch
        .integer(first.rows())
        .integer(first.columns())
        .integer(epilogue.code())
        .pointerOrNull(first.bias())
        .real(bound);
  }
}
