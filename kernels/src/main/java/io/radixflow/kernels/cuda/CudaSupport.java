package io.radixflow.kernels.cuda;

import io.radixflow.kernels.cuda.driver.CudaDevice;
import io.radixflow.kernels.cuda.driver.CudaDriver;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.CudaUnavailableException;
import io.radixflow.kernels.cuda.driver.DeviceCode;
import java.util.List;
import java.util.Locale;

/**
 * The state of CUDA in this process: driver, devices and device code. No context is opened to find
 * it.
 *
 * @param driverVersion CUDA version of the driver, 1000 times the major version plus 10 times the
 *     minor; 0 without a driver
 * @param driverProblem why there is no driver, or null
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
   * The CUDA version of driver 580, the first for CUDA 13.0. Older drivers cannot load the machine
   * code or the PTX.
   */
  private static final int LEAST_DRIVER_VERSION = 13000;

  public CudaSupport {
    devices = List.copyOf(devices);
  }

  /** Examines driver and device code. Never throws. */
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
      return "there is no CUDA device " + ordinal + ": the driver reports " + devices.size();
    }
    CudaDevice device = devices.get(ordinal);
    if (device.problem() != null) {
      return device.problem();
    }
    if (!hasDeviceCode) {
      return "this build contains no device code: " + deviceCode;
    }
    if (driverVersion < LEAST_DRIVER_VERSION) {
      return String.format(
          Locale.ROOT,
          "the driver supports CUDA %d.%d; the device code needs 13.0, which is driver 580 or"
              + " newer",
          driverVersion / 1000,
          driverVersion % 1000 / 10);
    }
    return null;
  }

  /**
   * Returns whether a system property gives the driver's path, as in tests. Then {@code auto} never
   * chooses the GPU.
   */
  public static boolean isDriverGiven() {
    return System.getProperty(CudaDriver.LIBRARY_PROPERTY) != null;
  }
}
