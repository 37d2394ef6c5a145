package io.radixflow.kernels.cpu.kernel;

import io.radixflow.kernels.device.JvmFlag;

/**
 * Says whether arrays may be pinned very often. Before Java 22 (G1) and Java 25 (other collectors),
 * no collection runs while an array is pinned. A thread that needs memory waits for a collection.
 * If other threads take the freed memory {@code GCLockerRetryAllocationCount} times, 2 by default,
 * the thread fails with an OutOfMemoryError (JDK-8192647).
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
