package io.radixflow.kernels.cpu.kernel;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;

/**
 * Fused multiply-add that is exact on every machine, and fast if the hardware has the instruction.
 *
 * <p>Without the instruction, {@link Math#fma(float, float, float)} uses {@code BigDecimal} and is
 * a thousand times slower. {@link #emulated} computes the same result in double arithmetic.
 */
public final class Fma {

  /** True if the JVM compiles {@link Math#fma(float, float, float)} to one instruction. */
  public static final boolean HARDWARE = hardware();

  private Fma() {}

  /** {@code a * b + c}, rounded once. */
  public static float fma(float a, float b, float c) {
    return HARDWARE ? Math.fma(a, b, c) : emulated(a, b, c);
  }

  /**
   * The product of two floats is exact in double. The sum is rounded to odd (Boldo and Melquiond
   * 2008), so that the later rounding to float gives the correctly rounded result.
   */
  static float emulated(float a, float b, float c) {
    double product = (double) a * b;
    double sum = product + c;
    double shadow = sum - product;
    double error = (product - (sum - shadow)) + (c - shadow);
    if (error > 0 || error < 0) {
      long bits = Double.doubleToRawLongBits(sum);
      if ((bits & 1) == 0) {
        bits += error > 0 == sum > 0 ? 1 : -1;
      }
      sum = Double.longBitsToDouble(bits);
    }
    return (float) sum;
  }

  private static boolean hardware() {
    String arch = System.getProperty("os.arch", "");
    if (!arch.equals("amd64") && !arch.equals("x86_64")) {
      return true;
    }
    try {
      Object option =
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=HotSpotDiagnostic"),
                  "getVMOption",
                  new Object[] {"UseFMA"},
                  new String[] {String.class.getName()});
      return Boolean.parseBoolean((String) ((CompositeData) option).get("value"));
    } catch (JMException | RuntimeException e) {
      return true;
    }
  }
}
