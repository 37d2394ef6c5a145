package io.radixflow.kernels.cuda.gemm;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.weights.CudaMatrix;

/** Launches of one matrix' product; {@link GemmKernel} lists the parameters. */
public final class GemmLaunch {

  private GemmLaunch() {}

  /** A product whose number of rows and gather are still to be appended. */
  public static KernelLaunch begin(
      KernelModule module,
      GemmPlan products,
      CudaMatrix matrix,
      DeviceMemory source,
      DeviceMemory result,
      DeviceMemory extra,
      int rows) {
    GemmKernel kernel = products.kernel(matrix.format(), rows, matrix.rows(), matrix.columns());
    return begin(module, kernel, matrix, source, result, 0, extra, rows);
  }

  /**
   * The same by a given kernel.
   *
   * @param offset byte of a row of the result where the matrix' part begins
   */
  public static KernelLaunch begin(
      KernelModule module,
      GemmKernel kernel,
      CudaMatrix matrix,
      DeviceMemory source,
      DeviceMemory result,
      long offset,
      DeviceMemory extra,
      int rows) {
    return operands(module, kernel, matrix, 0, source, result, offset, extra)
        .grid(kernel.gridX(matrix.rows()), kernel.gridY(rows), 1)
        .nullPointer();
  }

  /**
   * A launch without a grid, up to its operands.
   *
   * @param matrixBytes from one matrix to the next; 0 where there is one
   */
  static KernelLaunch operands(
      KernelModule module,
      GemmKernel kernel,
      CudaMatrix matrix,
      long matrixBytes,
      DeviceMemory source,
      DeviceMemory result,
      long offset,
      DeviceMemory extra) {
    return module
        .launch(kernel.function())
        .block(kernel.threads())
        .shared(kernel.sharedBytes())
        .pointer(matrix.weights())
        .wide(matrixBytes)
        .pointer(source)
        .pointer(result, offset)
        .pointerOrNull(extra);
  }

  /** Appends what {@link #begin} leaves open behind rows and gather, without scale and bound. */
  public static KernelLaunch finish(KernelLaunch launch, CudaMatrix matrix, GemmEpilogue epilogue) {
    int width = epilogue.gates() ? matrix.rows() / 2 : matrix.rows();
    return finish(launch, matrix, epilogue, 1, 0, width);
  }

  /**
   * The same with a factor and a bound of the epilogue.
   *
   * @param width elements of a row of the result
   */
  public static KernelLaunch finish(
      KernelLaunch launch,
      CudaMatrix matrix,
      GemmEpilogue epilogue,
      float scale,
      float bound,
      int width) {
    return shape(launch, matrix, epilogue, scale, bound, matrix.columns(), 0, width, 0);
  }

  /**
   * Appends the sizes and the epilogue, which end a launch.
   *
   * @param stride elements from row to row of the source
   * @param offset elements from matrix to matrix in a row of the source
   * @param targetStride elements from row to row of the result
   * @param targetOffset elements from matrix to matrix in a row of the result
   */
  static KernelLaunch shape(
      KernelLaunch launch,
      CudaMatrix matrix,
      GemmEpilogue epilogue,
      float scale,
      float bound,
      int stride,
      int offset,
      int targetStride,
      int targetOffset) {
    return launch
        .integer(matrix.rows())
        .integer(matrix.columns())
        .integer(epilogue.code())
        .real(scale)
        .real(bound)
        .integer(stride)
        .integer(offset)
        .integer(targetStride)
        .integer(targetOffset);
  }
}
