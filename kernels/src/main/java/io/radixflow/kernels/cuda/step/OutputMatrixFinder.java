package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.kernels.model.Activation;
import io.radixflow.kernels.model.ForwardOps;

/** Finds the output matrix of a forward graph. */
final class OutputMatrixFinder implements ForwardOps<CudaMatrix, DeviceMemory> {

  private CudaMatrix matrix;

  CudaMatrix matrix() {
    return matrix;
  }

  @Override
  public void embed(CudaMatrix table) {}

  @Override
  public void rmsNorm(Activation source, DeviceMemory gain, Activation target) {}

  @Override
  public void matmul(CudaMatrix each, Activation source, Activation target) {}

  @Override
  public void ropeAndStore(int layer, DeviceMemory queryNorm, DeviceMemory keyNorm) {}

  @Override
  public void attend(int layer) {}

  @Override
  public void swiglu() {}

  @Override
  public void addResidual() {}

  @Override
  public void outputs(DeviceMemory norm, CudaMatrix head) {
    matrix = head;
  }
}
