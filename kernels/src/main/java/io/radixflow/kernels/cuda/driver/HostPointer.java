package io.radixflow.kernels.cuda.driver;

import jcuda.Pointer;

/** A native host address that can be read as a number. */
final class HostPointer extends Pointer {

  HostPointer() {}

  long address() {
    return getNativePointer();
  }
}
