package io.radixflow.kernels;

import io.radixflow.kernels.device.DeviceName;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvSpec;
import java.io.Serializable;

/**
 * How a model is put on a device.
 *
 * @param device as {@link DeviceName} reads it
 * @param threads compute threads of the CPU backend; 0 for all cores but one (two cores: both)
 * @param kvType element type of the KV pool; null for the device's own: f32 on a CPU, bf16 on a GPU
 * @param gpuMode what a GPU's results depend on
 * @param gpuMemory bytes of a GPU's memory that weights, activations and KV pool may take together;
 *     0 for nine tenths of what is free
 */
public record DeviceOptions(
    String device, int threads, KvSpec.Type kvType, GpuMode gpuMode, long gpuMemory)
    implements Serializable {

  /** Device, threads and KV type chosen for the machine. */
  public static final DeviceOptions DEFAULT = new DeviceOptions("auto", 0, null);

  public DeviceOptions {
    DeviceName.parse(device);
    if (gpuMemory < 0) {
      throw new IllegalArgumentException("gpuMemory is " + gpuMemory + ", must be 0 or more");
    }
  }

  /** With the defaults for a GPU. */
  public DeviceOptions(String device, int threads, KvSpec.Type kvType) {
    this(device, threads, kvType, GpuMode.DETERMINISTIC, 0);
  }

  /** The same on another device. */
  public DeviceOptions on(String other) {
    return new DeviceOptions(other, threads, kvType, gpuMode, gpuMemory);
  }

  /** The device. */
  public DeviceName name() {
    return DeviceName.parse(device);
  }
}
