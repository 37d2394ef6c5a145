package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.JCudaDriver;

/**
 * The CUDA driver of this process. It is loaded once. If loading fails, later calls throw the same
 * failure. Any thread may use it.
 */
public final class CudaDriver {

  /** System property: path of the {@code libcuda.so.1} to use instead of the system's. */
  public static final String LIBRARY_PROPERTY = "gpu.driver";

  private static CudaDriver loaded;
  private static CudaUnavailableException failure;

  private final int version;

  private CudaDriver(int version) {
    this.version = version;
  }

  /**
   * Loads and initialises the driver.
   *
   * @throws CudaUnavailableException if there is no driver, or it cannot be used
   */
  public static synchronized CudaDriver load() {
    if (failure != null) {
      throw new CudaUnavailableException(failure.getMessage(), failure.getCause());
    }
    if (loaded == null) {
      try {
        loaded = open();
      } catch (CudaUnavailableException e) {
        failure = e;
        throw e;
      }
    }
    return loaded;
  }

  /**
   * The CUDA version that the driver supports: 1000 times the major version plus 10 times the
   * minor.
   */
  public int version() {
    return version;
  }

  /** The devices in the driver's order. */
  public List<CudaDevice> devices() {
    int[] count = new int[1];
    check(JCudaDriver.cuDeviceGetCount(count), "cuDeviceGetCount");
    List<CudaDevice> devices = new ArrayList<>();
    for (int ordinal = 0; ordinal < count[0]; ordinal++) {
      devices.add(device(ordinal));
    }
    return devices;
  }

  private static CudaDriver open() {
    String library = System.getProperty(LIBRARY_PROPERTY);
    try {
      if (library != null) {
        // JCuda's library needs libcuda.so.1. A library with this SONAME that is already loaded
        // satisfies it.
        System.load(Path.of(library).toAbsolutePath().toString());
      }
      JCudaNatives.load();
      JCudaDriver.setExceptionsEnabled(false);
      check(JCudaDriver.cuInit(0), "cuInit");
      int[] version = new int[1];
      check(JCudaDriver.cuDriverGetVersion(version), "cuDriverGetVersion");
      return new CudaDriver(version[0]);
    } catch (LinkageError e) {
      throw new CudaUnavailableException(explain(library, e), e);
    } catch (CudaException | IOException e) {
      throw new CudaUnavailableException("Cannot start the CUDA driver: " + e.getMessage(), e);
    }
  }

  private static String explain(String library, LinkageError error) {
    String said = String.valueOf(error.getMessage());
    if (said.contains("already loaded in another classloader")) {
      return "JCuda was loaded by another class loader; put radixflow-kernels-lib.jar into lib of"
          + " Flink, so that it is loaded only once per process.";
    }
    if (library != null) {
      return String.format(
          "The CUDA driver %s (-D%s) cannot be loaded: %s", library, LIBRARY_PROPERTY, said);
    }
    int missing = said.indexOf("libcuda.so.1");
    if (missing >= 0) {
      return "No CUDA driver: libcuda.so.1 was not found. Install NVIDIA's driver, or in a"
          + " container run it with the GPU (for example docker run --gpus all).";
    }
    return "JCuda cannot be loaded (it supports only Linux on x86-64): "
        + said.lines().findFirst().orElse(said);
  }

  private static CudaDevice device(int ordinal) {
    CUdevice device = new CUdevice();
    check(JCudaDriver.cuDeviceGet(device, ordinal), "cuDeviceGet", "device " + ordinal);
    byte[] name = new byte[256];
    check(JCudaDriver.cuDeviceGetName(name, name.length, device), "cuDeviceGetName");
    long[] bytes = new long[1];
    check(JCudaDriver.cuDeviceTotalMem(bytes, device), "cuDeviceTotalMem");
    return new CudaDevice(
        ordinal,
        new String(name, StandardCharsets.UTF_8).trim(),
        bytes[0],
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        attribute(
            device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  }

  /** Bytes of a device's second-level cache. */
  static int cacheBytes(int ordinal) {
    CUdevice device = new CUdevice();
    check(JCudaDriver.cuDeviceGet(device, ordinal), "cuDeviceGet", "device " + ordinal);
    return attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  }

  private static int attribute(CUdevice device, int attribute) {
    int[] value = new int[1];
    check(JCudaDriver.cuDeviceGetAttribute(value, attribute, device), "cuDeviceGetAttribute");
    return value[0];
  }
}
