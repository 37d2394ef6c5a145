package io.radixflow.kernels;

import io.radixflow.kernels.device.KvSpec;
import java.io.Serializable;

/**
 * How a model is put on a device.
 *
 * @param device {@code auto}, {@code cpu} or {@code sim}
 * @param threads compute threads of the CPU backend; 0 for all cores but one (two cores: both)
 * @param kvType element type of the KV pool
 */
public record DeviceOptions(String device, int threads, KvSpec.Type kvType)
    implements Serializable {

  /** Device, threads and KV type chosen for the machine. */
  public static final DeviceOptions DEFAULT = new DeviceOptions("auto", 0, KvSpec.Type.F32);
}
