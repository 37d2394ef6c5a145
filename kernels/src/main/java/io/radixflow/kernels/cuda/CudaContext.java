package io.radixflow.kernels.cuda;

import static io.radixflow.kernels.cuda.CudaException.check;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import jcuda.driver.CUcontext;
import jcuda.driver.CUctx_flags;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A context of one device. Memory, streams and modules are made here and belong to it; closing it
 * waits for the device and frees all of them, also after the context was lost.
 *
 * <p>The thread that opens it may use it at once, any other after {@link #bind}. Making and closing
 * things is for one thread at a time.
 */
public final class CudaContext implements AutoCloseable {

  /** System property: {@code true} waits after each launch, so that a fault names its kernel. */
  public static final String SYNCHRONOUS_PROPERTY = "gpu.synchronous";

  private static final Logger LOG = LoggerFactory.getLogger(CudaContext.class);

  private final CudaDevice device;
  private final CUcontext handle = new CUcontext();
  private final boolean synchronous = Boolean.getBoolean(SYNCHRONOUS_PROPERTY);
  private final List<PinnedMemory> parameterSlabs = new ArrayList<>();
  private long parametersUsed = PARAMETER_SLAB;
  private boolean closed;

  private static final long PARAMETER_SLAB = 64 << 10;

  private CudaContext(CudaDevice device) {
    this.device = device;
  }

  /**
   * Opens a context on the device with this number.
   *
   * @throws CudaUnavailableException without a driver, or without such a device
   * @throws CudaException if the driver refuses
   */
  public static CudaContext open(int ordinal) {
    List<CudaDevice> devices = CudaDriver.load().devices();
    if (ordinal < 0 || ordinal >= devices.size()) {
      throw new CudaUnavailableException(
          "There is no CUDA device " + ordinal + ": the driver shows " + devices.size() + ".");
    }
    CudaContext context = new CudaContext(devices.get(ordinal));
    CUdevice device = new CUdevice();
    check(JCudaDriver.cuDeviceGet(device, ordinal), "cuDeviceGet");
    int flags = CUctx_flags.CU_CTX_SCHED_AUTO | CUctx_flags.CU_CTX_MAP_HOST;
    check(
        JCudaDriver.cuCtxCreate(context.handle, flags, device),
        "cuCtxCreate",
        "a context on " + context.device.name());
    return context;
  }

  public CudaDevice device() {
    return device;
  }

  /** Makes this the calling thread's context. */
  public void bind() {
    check(JCudaDriver.cuCtxSetCurrent(handle), "cuCtxSetCurrent");
  }

  /** Waits for all work of the context. */
  public void synchronize() {
    check(JCudaDriver.cuCtxSynchronize(), "cuCtxSynchronize");
  }

  /** Bytes of device memory that are free now, whoever else uses the device. */
  public long freeMemory() {
    long[] free = new long[1];
    check(JCudaDriver.cuMemGetInfo(free, new long[1]), "cuMemGetInfo");
    return free[0];
  }

  /** Device memory with undefined contents; {@code what} is for the message if there is none. */
  public DeviceMemory allocate(long bytes, String what) {
    return DeviceMemory.allocate(this, bytes, what);
  }

  /** A slab of pinned memory with undefined contents. */
  public PinnedMemory allocatePinned(long bytes, String what) {
    return PinnedMemory.allocate(this, bytes, what);
  }

  public CudaStream newStream(String name) {
    return new CudaStream(this, name);
  }

  public CudaEvent newEvent() {
    return new CudaEvent(this, false);
  }

  /** An event that also measures time. */
  public CudaEvent newTimedEvent() {
    return new CudaEvent(this, true);
  }

  /** Loads kernels; see {@link DeviceCode}. */
  public KernelModule load(DeviceCode code) {
    return new KernelModule(this, code);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    int result = JCudaDriver.cuCtxDestroy(handle);
    if (result != CUresult.CUDA_SUCCESS) {
      LOG.warn("{}", CudaException.of(result, "cuCtxDestroy", device.name()).getMessage());
    }
  }

  boolean synchronous() {
    return synchronous;
  }

  /** Pinned memory of {@link KernelLaunch#BYTES}, freed with the context. */
  PinnedMemory newParameters() {
    if (parametersUsed + KernelLaunch.BYTES > PARAMETER_SLAB) {
      parameterSlabs.add(allocatePinned(PARAMETER_SLAB, "kernel parameters"));
      parametersUsed = 0;
    }
    PinnedMemory slab = parameterSlabs.get(parameterSlabs.size() - 1);
    PinnedMemory block = slab.slice(parametersUsed, KernelLaunch.BYTES);
    parametersUsed += KernelLaunch.BYTES;
    return block;
  }

  /**
   * Frees something; after the context is gone there is nothing to free, and failures are logged.
   */
  void free(IntSupplier call, String name) {
    if (closed) {
      return;
    }
    int result = call.getAsInt();
    if (result != CUresult.CUDA_SUCCESS) {
      CudaException failure = CudaException.of(result, name, "");
      if (failure.isContextLost()) {
        LOG.debug("{}", failure.getMessage());
      } else {
        LOG.warn("{}", failure.getMessage());
      }
    }
  }
}
