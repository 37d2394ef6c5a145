package io.radixflow.kernels.cuda.driver;

import jcuda.driver.CUdeviceptr;

/** A device address that can be read and set as a number. */
final class DevicePointer extends CUdeviceptr {

  DevicePointer() {}

  private DevicePointer(CUdeviceptr base, long offset) {
    super(base, offset);
  }

  static DevicePointer at(long address) {
    return new DevicePointer(new DevicePointer(), address);
  }

  /** The address; a pointer made by {@link #at} keeps it as an offset from null. */
  long address() {
    return getNativePointer() + getByteOffset();
  }
}
