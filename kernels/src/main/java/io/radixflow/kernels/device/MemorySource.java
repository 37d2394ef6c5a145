package io.radixflow.kernels.device;

/** Measures the available memory. */
@FunctionalInterface
public interface MemorySource {

  /** Returns the current numbers. */
  MemoryStatus now();

  /** Lets the JVM collect its garbage and then returns the numbers. This can take seconds. */
  default MemoryStatus afterCollection() {
    return now();
  }

  /** The memory of this machine, container and JVM. */
  static MemorySource system() {
    return SystemMemory.SYSTEM;
  }
}
