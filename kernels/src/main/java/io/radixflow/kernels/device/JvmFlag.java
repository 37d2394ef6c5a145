package io.radixflow.kernels.device;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/** Flags of the JVM that runs this process. */
public final class JvmFlag {
  private JvmFlag() {}

  /** Returns the value of a flag; empty if the JVM does not have the flag or the flag is locked. */
  public static String value(String name) {
    try {
      HotSpotDiagnosticMXBean flags =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      return flags == null ? "" : flags.getVMOption(name).getValue();
    } catch (IllegalArgumentException e) {
      return "";
    }
  }
}
