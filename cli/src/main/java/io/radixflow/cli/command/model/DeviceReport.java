package io.radixflow.cli.command.model;

import io.radixflow.kernels.cuda.CudaSelfTest;
import io.radixflow.kernels.cuda.CudaSupport;
import io.radixflow.kernels.device.DeviceName;

/**
 * The GPUs on which this process can run a model, and the GPU that was examined.
 *
 * @param cuda the driver, its devices, and the device code in the build
 * @param gpu number of the GPU that was examined
 * @param problem why that GPU cannot be used, or null
 * @param tested whether the self-test ran on that GPU
 */
record DeviceReport(CudaSupport cuda, int gpu, String problem, boolean tested) {

  /** Examines the device and, if it is a GPU, runs the self-test on it; takes a second. */
  static DeviceReport of(DeviceName device) {
    CudaSupport cuda = CudaSupport.probe();
    int gpu = Math.max(0, device.index());
    String problem = cuda.problem(gpu);
    boolean tested =
        problem == null
            && (device.kind() == DeviceName.Kind.CUDA || device.kind() == DeviceName.Kind.AUTO);
    if (tested) {
      problem = CudaSelfTest.run(gpu);
    }
    return new DeviceReport(cuda, gpu, problem, tested);
  }

  /** Returns whether no problem with the GPU is known; the self-test may not have run. */
  boolean gpuWorks() {
    return problem == null;
  }

  /**
   * Returns whether the requested device can be used: {@code auto} works without a GPU, but not
   * with a broken one.
   */
  boolean works(DeviceName device) {
    return switch (device.kind()) {
      case CPU, SIM -> true;
      case CUDA -> gpuWorks();
      case AUTO -> !tested || gpuWorks();
    };
  }
}
