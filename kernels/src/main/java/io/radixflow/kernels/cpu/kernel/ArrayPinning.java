package io.radixflow.kernels.cpu.kernel;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/**
 * Whether arrays may be pinned all the time. Before Java 22 (G1) and 25 (others) no collection runs
 * while an array is pinned. A thread that needs memory waits, and gives up with an OutOfMemoryError
 * after {@code GCLockerRetryAllocationCount} times in which others took what was freed: twice,
 * unless told otherwise (JDK-8192647).
 */
final class ArrayPinning {

  /** The flags that make it safe where it is not. */
  static final String FLAGS =
      "-XX:+UnlockDiagnosticVMOptions -XX:GCLockerRetryAllocationCount=1000";

  private static final int ENOUGH = 100;

  private ArrayPinning() {}

  static boolean isSafe() {
    int version = Runtime.version().feature();
    if (version >= 25) {
      return true;
    }
    String retries = option("GCLockerRetryAllocationCount");
    return version >= 22 && option("UseG1GC").equals("true")
        || !retries.isEmpty() && Long.parseLong(retries) >= ENOUGH;
  }

  /** The value of a flag of the JVM; empty if it has none of that name, or it is locked. */
  private static String option(String name) {
    try {
      HotSpotDiagnosticMXBean flags =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      return flags == null ? "" : flags.getVMOption(name).getValue();
    } catch (IllegalArgumentException e) {
      return "";
    }
  }
}
