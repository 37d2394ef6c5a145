package io.radixflow.kernels.cuda;

import io.radixflow.kernels.cuda.driver.CudaDevice;
import io.radixflow.kernels.cuda.driver.CudaDriver;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.CudaUnavailableException;
import io.radixflow.kernels.cuda.driver.DeviceCode;
import java.util.List;
import java.util.Locale;

/**
 * The state of CUDA in this process: driver, devices and device code, examined without opening a
 * context.
 *
 * @param driverVersion CUDA version of the driver, 1000 times the major plus 10 times the minor; 0
 *     without a driver
 * @param driverProblem the reason for a missing driver, or null
 * @param devices the driver's devices
 * @param deviceCode a description of the device code in the jar
 * @param hasDeviceCode whether there are kernels to load
 */
public record CudaSupport(
    int driverVersion,
    String driverProblem,
    List<CudaDevice> devices,
    String deviceCode,
    boolean hasDeviceCode) {

  /**
   * Driver 580 is the first driver of CUDA 13.0. Older drivers load neither its code nor its PTX.
   */
  private static final int LEAST_DRIVER_VERSION = 13000;

  public CudaSupport {
    devices = List.copyOf(devices);
  }

  /** Examines driver and device code; throws nothing. */
  public static CudaSupport probe() {
    boolean code = hasCode();
    try {
      CudaDriver driver = CudaDriver.load();
      return new CudaSupport(driver.version(), null, driver.devices(), DeviceCode.contents(), code);
    } catch (CudaUnavailableException | CudaException e) {
      return new CudaSupport(0, e.getMessage(), List.of(), DeviceCode.contents(), code);
    }
  }

  private static boolean hasCode() {
    try {
      DeviceCode.load();
      return true;
    } catch (CudaUnavailableException e) {
      return false;
    }
  }

  /**
   * Returns why the device cannot be used, or null if it can be used.
   *
   * @param ordinal the driver's number of the device
   */
  public String problem(int ordinal) {
    if (driverProblem != null) {
      return driverProblem;
    }
    if (ordinal >= devices.size()) {
      return "there is no CUDA device " + ordinal + ": the driver shows " + devices.size();
    }
    CudaDevice device = devices.get(ordinal);
    if (device.problem() != null) {
      return device.problem();
    }
    if (!hasDeviceCode) {
      return "no device code is inside this build: " + deviceCode;
    }
    if (driverVersion < LEAST_DRIVER_VERSION) {
      return String.format(
          Locale.ROOT,
          "the driver is of CUDA %d.%d; the device code needs 13.0, which is driver 580 or newer",
          driverVersion / 1000,
          driverVersion % 1000 / 10);
    }
    return null;
  }

  /**
   * Returns whether a system property names the driver, as in tests; {@code auto} never chooses it.
   */
  public static boolean isDriverGiven() {
    return System.getProperty(CudaDriver.LIBRARY_PROPERTY) != null;
  }
}
