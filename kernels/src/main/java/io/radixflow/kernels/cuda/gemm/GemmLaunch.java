package io.radixflow.kernels.cuda.gemm;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.weights.CudaMatrix;

/** Launches the product of one matrix. {@link GemmKernel} lists the parameters. */
public final class GemmLaunch {

  private GemmLaunch() {}

  /** Begins a product. The caller still has to append the number of rows and gather. */
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
   * Like the other {@code begin}, with a given kernel.
   *
   * @param offset byte offset of the matrix's part in a row of the result
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
   * Creates a launch without a grid and appends the operands.
   *
   * @param matrixBytes bytes from one matrix to the next; 0 if there is only one
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

  /** Appends the parameters after rows and gather, without scale and bound. */
  public static KernelLaunch finish(KernelLaunch launch, CudaMatrix matrix, GemmEpilogue epilogue) {
    int width = epilogue.gates() ? matrix.rows() / 2 : matrix.rows();
    return finish(launch, matrix, epilogue, 1, 0, width);
  }

  /**
   * Appends the parameters after rows and gather.
   *
   * @param scale the epilogue's factor
   * @param bound the epilogue's bound
   * @param width elements per row of the result
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
   * Appends the last parameters: sizes and epilogue.
   *
   * @param stride distance between rows of the source, in elements
   * @param offset distance between matrices in a row of the source, in elements
   * @param targetStride distance between rows of the result, in elements
   * @param targetOffset distance between matrices in a row of the result, in elements
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
