package io.radixflow.kernels;

import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.cuda.CudaSelfTest;
import io.radixflow.kernels.cuda.CudaSupport;
import io.radixflow.kernels.device.DeviceName;
import java.util.List;

/**
 * The devices that this process can run a model on.
 *
 * @param instructions what the CPU backend computes with
 * @param deviceCode what the build contains for GPUs
 * @param driverVersion CUDA version of the driver, 1000 times the major plus 10 times the minor; 0
 *     without a driver
 * @param gpus the driver's devices
 * @param gpu number of the GPU that was examined
 * @param problem why that GPU cannot be used, or null
 * @param tested whether the self-test ran on that GPU
 */
public record DeviceReport(
    String instructions,
    String deviceCode,
    int driverVersion,
    List<Gpu> gpus,
    int gpu,
    String problem,
    boolean tested) {

  /**
   * A GPU.
   *
   * @param number the driver's number of it
   * @param capability compute capability, such as 9.0
   * @param multiprocessors how many run blocks
   * @param memoryBytes all of its memory
   */
  public record Gpu(
      int number, String name, String capability, int multiprocessors, long memoryBytes) {}

  public DeviceReport {
    gpus = List.copyOf(gpus);
  }

  /** Examines the device and, if it is a GPU, runs the self-test on it; takes a second. */
  public static DeviceReport of(DeviceName device) {
    CudaSupport cuda = CudaSupport.probe();
    int gpu = Math.max(0, device.index());
    String problem = cuda.problem(gpu);
    boolean tested =
        problem == null
            && (device.kind() == DeviceName.Kind.CUDA || device.kind() == DeviceName.Kind.AUTO);
    if (tested) {
      problem = CudaSelfTest.run(gpu);
    }
    List<Gpu> gpus =
        cuda.devices().stream()
            .map(
                each ->
                    new Gpu(
                        each.ordinal(),
                        each.name(),
                        each.major() + "." + each.minor(),
                        each.multiprocessors(),
                        each.totalMemory()))
            .toList();
    return new DeviceReport(
        CpuBackend.instructions(),
        cuda.deviceCode(),
        cuda.driverVersion(),
        gpus,
        gpu,
        problem,
        tested);
  }

  /** Returns whether nothing speaks against using the GPU; the self-test may not have run. */
  public boolean gpuWorks() {
    return problem == null;
  }

  /**
   * Returns whether the requested device can be used: {@code auto} works without a GPU, but not
   * with a broken one.
   */
  public boolean works(DeviceName device) {
    return switch (device.kind()) {
      case CPU, SIM -> true;
      case CUDA -> gpuWorks();
      case AUTO -> !tested || gpuWorks();
    };
  }
}
