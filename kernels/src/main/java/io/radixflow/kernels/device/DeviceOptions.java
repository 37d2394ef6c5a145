package io.radixflow.kernels.device;

import java.io.Serializable;

/**
 * Options for loading a model onto a device.
 *
 * @param device a name that {@link DeviceName#parse} accepts
 * @param threads compute threads of the CPU backend; 0 for all cores but one (two cores: both)
 * @param kvType element type of the KV pool; null for the device's own: f16 on a CPU, bf16 on a GPU
 * @param gpuMode whether a GPU's results must be reproducible bit for bit
 * @param gpuMemory bytes of a GPU's memory that weights, activations and KV pool may take together;
 *     0 for nine tenths of the free memory
 * @param threadPriority priority of the CPU backend's compute threads
 * @param weightFiles most bytes of the CPU backend's files of repacked weights in the cache
 *     directory; 0 to use none
 */
public record DeviceOptions(
    String device,
    int threads,
    KvSpec.Type kvType,
    GpuMode gpuMode,
    long gpuMemory,
    ThreadPriority threadPriority,
    long weightFiles)
    implements Serializable {

  /** Device, threads and KV type chosen for the machine. */
  public static final DeviceOptions DEFAULT = new DeviceOptions("auto", 0, null);

  public DeviceOptions {
    DeviceName.parse(device);
    if (gpuMemory < 0) {
      throw new IllegalArgumentException("gpuMemory is " + gpuMemory + "; it must be 0 or more");
    }
    if (weightFiles < 0) {
      throw new IllegalArgumentException(
          "weightFiles is " + weightFiles + "; it must be 0 or more");
    }
  }

  /** Uses the defaults for a GPU. */
  public DeviceOptions(String device, int threads, KvSpec.Type kvType) {
    this(device, threads, kvType, GpuMode.DETERMINISTIC, 0);
  }

  /** Uses the default priority of compute threads, and no files. */
  public DeviceOptions(
      String device, int threads, KvSpec.Type kvType, GpuMode gpuMode, long gpuMemory) {
    this(device, threads, kvType, gpuMode, gpuMemory, ThreadPriority.NICE, 0);
  }

  /** A copy of these options for another device. */
  public DeviceOptions on(String other) {
    return new DeviceOptions(
        other, threads, kvType, gpuMode, gpuMemory, threadPriority, weightFiles);
  }

  public DeviceName name() {
    return DeviceName.parse(device);
  }
}
