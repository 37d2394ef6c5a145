package io.radixflow.kernels.device;

/** Says how much memory there is. */
@FunctionalInterface
public interface MemorySource {

  /** Returns the numbers of this moment. */
  MemoryStatus now();

  /** Lets the JVM collect its garbage and returns the numbers after it; takes up to seconds. */
  default MemoryStatus afterCollection() {
    return now();
  }

  /** The memory of this machine, container and JVM. */
  static MemorySource system() {
    return SystemMemory.SYSTEM;
  }
}
