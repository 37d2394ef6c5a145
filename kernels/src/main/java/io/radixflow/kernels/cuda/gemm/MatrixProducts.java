package io.radixflow.kernels.cuda.gemm;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.weights.BFloat16;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.kernels.cuda.weights.WeightFormat;
import java.util.List;

/**
 * Records the products with matrices of a model. A quantised matrix that many rows use is unpacked
 * first. A kernel writes it as bf16 to a space that all matrices share, as many of its rows at a
 * time as fit, and the product reads it there. The bits are the same as if the product unpacked in
 * registers.
 */
public final class MatrixProducts {

  /** This number of rows is a multiple of the tiles of every kernel for many rows. */
  private static final int WHOLE_TILES = 384;

  /**
   * This number of rows is a multiple of the tiles of every kernel with every epilogue. It is used
   * if space is short.
   */
  private static final int LEAST_ROWS = 16;

  private static final int UNPACK_THREADS = 256;

  /** Elements per row that a warp unpacks, for 8 rows. */
  private static final int UNPACK_COLUMNS = 128;

  private final KernelModule module;
  private final GemmPlan plan;
  private final DeviceMemory space;

  /**
   * @param space memory for unpacked weights; null to always unpack in registers
   */
  public MatrixProducts(KernelModule module, GemmPlan plan, DeviceMemory space) {
    this.module = module;
    this.plan = plan;
    this.space = space;
  }

  /**
   * The operands and the result of a product.
   *
   * @param source bf16 rows with one element per column of the matrix
   * @param result rows with all features of the matrix and the matrices below it; half as many
   *     features if the epilogue gates
   * @param residual the matrix that {@link GemmEpilogue#RESIDUAL} adds, in the result's shape; else
   *     null
   * @param rows number of rows that the grids have room for
   * @param step metadata that begins with the number of rows, an integer
   */
  public record Operands(
      DeviceMemory source,
      DeviceMemory result,
      DeviceMemory residual,
      GemmEpilogue epilogue,
      float scale,
      float bound,
      int rows,
      DeviceMemory step) {

    /** Bytes of a row of the result that has {@code features} features before gating. */
    private long resultBytes(int features) {
      long elements = epilogue.gates() ? features / 2 : features;
      return elements * (epilogue == GemmEpilogue.LOGITS ? Float.BYTES : BFloat16.BYTES);
    }
  }

  /** Adds the launches of the products with a matrix and with the matrices below it. */
  public void record(CudaMatrix matrix, Operands operands, List<KernelLaunch> launches) {
    int width = operands.epilogue().gates() ? matrix.rows() / 2 : matrix.allRows();
    int feature = 0;
    for (CudaMatrix part = matrix; part != null; part = part.below()) {
      int rows = unpackedRows(part, operands.rows());
      if (rows == 0) {
        launches.add(product(part, feature, width, operands));
      }
      for (int first = 0; rows > 0 && first < part.rows(); first += rows) {
        int count = Math.min(rows, part.rows() - first);
        launches.add(unpack(part, first, count));
        launches.add(product(unpacked(part, first, count), feature + first, width, operands));
      }
      feature += part.rows();
    }
  }

  /** How many rows of a matrix are unpacked together; 0 if the matrix is not unpacked. */
  private int unpackedRows(CudaMatrix matrix, int rows) {
    if (space == null || !GemmPlan.unpacks(matrix.format(), rows)) {
      return 0;
    }
    int fit = (int) Math.min(matrix.rows(), space.bytes() / BFloat16.BYTES / matrix.columns());
    if (fit == matrix.rows()) {
      return fit;
    }
    return fit - fit % (fit < WHOLE_TILES ? LEAST_ROWS : WHOLE_TILES);
  }

  private KernelLaunch unpack(CudaMatrix matrix, int first, int count) {
    int spans = (matrix.columns() + UNPACK_COLUMNS - 1) / UNPACK_COLUMNS;
    int warps = (count + 7) / 8 * spans;
    return module
        .launch("rf_unpack" + matrix.format().suffix())
        .pointer(matrix.weights(), matrix.format().bytes(first, matrix.columns()))
        .pointer(space)
        .integer(count)
        .integer(matrix.columns())
        .grid((warps * 32 + UNPACK_THREADS - 1) / UNPACK_THREADS)
        .block(UNPACK_THREADS);
  }

  private CudaMatrix unpacked(CudaMatrix matrix, int first, int count) {
    DeviceMemory bias = matrix.bias();
    DeviceMemory own =
        bias == null ? null : bias.slice((long) first * Float.BYTES, (long) count * Float.BYTES);
    return new CudaMatrix(
        WeightFormat.BF16, space, own, count, matrix.columns(), matrix.gated(), null);
  }

  /**
   * @param feature index of the matrix's first feature in the result
   */
  private KernelLaunch product(CudaMatrix matrix, int feature, int width, Operands operands) {
    GemmKernel kernel =
        plan.kernel(matrix.format(), operands.rows(), matrix.rows(), matrix.columns());
    long offset = operands.resultBytes(feature);
    DeviceMemory residual = operands.residual();
    DeviceMemory extra =
        residual == null ? matrix.bias() : residual.slice(offset, residual.bytes() - offset);
    KernelLaunch launch =
        GemmLaunch.begin(
            module,
            kernel,
            matrix,
            operands.source(),
            operands.result(),
            offset,
            extra,
            operands.rows());
    launch.pointer(operands.step()).nullPointer();
    return GemmLaunch.finish(
        launch, matrix, operands.epilogue(), operands.scale(), operands.bound(), width);
  }
}
