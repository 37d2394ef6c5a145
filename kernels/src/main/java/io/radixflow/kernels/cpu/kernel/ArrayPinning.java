package io.radixflow.kernels.cpu.kernel;

import io.radixflow.kernels.device.JvmFlag;

/**
 * Knows whether arrays may be pinned all the time. Before Java 22 (G1) and 25 (others) no
 * collection runs while an array is pinned. A thread that needs memory waits, and gives up with an
 * OutOfMemoryError after other threads took the freed memory {@code GCLockerRetryAllocationCount}
 * times; the default is twice (JDK-8192647).
 */
final class ArrayPinning {

  /** JVM flags that make pinning safe where it is not safe by default. */
  static final String FLAGS =
      "-XX:+UnlockDiagnosticVMOptions -XX:GCLockerRetryAllocationCount=1000";

  private static final int ENOUGH = 100;

  private ArrayPinning() {}

  static boolean isSafe() {
    int version = Runtime.version().feature();
    if (version >= 25) {
      return true;
    }
    String retries = JvmFlag.value("GCLockerRetryAllocationCount");
    return version >= 22 && JvmFlag.value("UseG1GC").equals("true")
        || !retries.isEmpty() && Long.parseLong(retries) >= ENOUGH;
  }
}
