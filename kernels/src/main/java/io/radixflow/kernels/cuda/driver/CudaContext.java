package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One user's part of a device's context, which all users of a process share ({@link
 * SharedContext}). Memory, streams and modules are created here and belong to it. Closing it waits
 * for their work and frees them. If the context is lost, they are freed when its last user has
 * closed.
 *
 * <p>The thread that opens the context may use it at once. Any other thread must call {@link #bind}
 * first. Several threads may allocate and free memory at the same time; everything else must be
 * used by one thread at a time. No thread may use the context while it is being closed.
 */
public final class CudaContext implements AutoCloseable, DeviceAllocator {

  /**
   * System property: {@code true} waits after each launch, so that an error is reported for the
   * right kernel.
   */
  public static final String SYNCHRONOUS_PROPERTY = "gpu.synchronous";

  private static final Logger LOG = LoggerFactory.getLogger(CudaContext.class);

  private final CudaDevice device;
  private final SharedContext shared;
  private final boolean synchronous = Boolean.getBoolean(SYNCHRONOUS_PROPERTY);
  private final Set<ContextResource> resources = Collections.synchronizedSet(new LinkedHashSet<>());
  private final List<PinnedMemory> parameterSlabs = new ArrayList<>();
  private long parametersUsed = PARAMETER_SLAB;
  private volatile boolean closed;

  private static final long PARAMETER_SLAB = 64 << 10;

  private CudaContext(CudaDevice device, SharedContext shared) {
    this.device = device;
    this.shared = shared;
  }

  /**
   * Opens the process's context of a device.
   *
   * @throws CudaUnavailableException if there is no driver or no such device
   * @throws CudaException if the driver fails
   */
  public static CudaContext open(int ordinal) {
    List<CudaDevice> devices = CudaDriver.load().devices();
    if (ordinal < 0 || ordinal >= devices.size()) {
      throw new CudaUnavailableException(
          "There is no CUDA device " + ordinal + ": the driver reports " + devices.size() + ".");
    }
    CudaDevice device = devices.get(ordinal);
    return new CudaContext(device, SharedContext.acquire(device));
  }

  public CudaDevice device() {
    return device;
  }

  /** Makes this the calling thread's context. */
  public void bind() {
    shared.bind();
  }

  /**
   * Returns whether {@link #noteFailure} found that the context is lost. It is then lost for all
   * its users.
   */
  public boolean isLost() {
    return shared.isLost();
  }

  /** Marks the context as lost if the failure says so. */
  public void noteFailure(Throwable failure) {
    if (failure instanceof CudaException e && e.isContextLost()) {
      shared.lose();
    }
  }

  /**
   * Waits for all work of this user's streams. Waiting for the whole context would break a graph
   * that another user is capturing.
   */
  public void synchronize() {
    for (ContextResource resource : resources.toArray(ContextResource[]::new)) {
      if (resource instanceof CudaStream stream) {
        stream.synchronize();
      }
    }
  }

  /** Bytes of device memory that are free now. Other processes may also use the device. */
  public long freeMemory() {
    long[] free = new long[1];
    check(JCudaDriver.cuMemGetInfo(free, new long[1]), "cuMemGetInfo");
    return free[0];
  }

  /** Bytes of the device's second-level cache. */
  public int cacheBytes() {
    return CudaDriver.cacheBytes(device.ordinal());
  }

  @Override
  public DeviceMemory allocate(long bytes, String what) {
    return DeviceMemory.allocate(this, bytes, what);
  }

  /** Allocates pinned memory. Its contents are undefined. */
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
    try {
      bind();
      synchronize();
    } catch (CudaException e) {
      noteFailure(e);
      LOG.debug("{}", e.getMessage());
    }
    List<ContextResource> left = List.of(resources.toArray(ContextResource[]::new));
    for (int i = left.size() - 1; i >= 0; i--) {
      left.get(i).close();
    }
    closed = true;
    shared.release();
  }

  public boolean synchronous() {
    return synchronous;
  }

  /**
   * Returns {@link KernelLaunch#BYTES} bytes of pinned memory, which are freed with the context.
   */
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

  /** Registers a new resource, which is freed with the context. */
  void opened(ContextResource resource) {
    resources.add(resource);
  }

  /** Frees a resource and logs a failure. Does nothing after the context has closed. */
  void free(ContextResource resource) {
    if (closed) {
      return;
    }
    resources.remove(resource);
    int result = resource.destroy();
    if (result != CUresult.CUDA_SUCCESS) {
      CudaException failure = CudaException.of(result, resource.destructor(), "");
      if (failure.isContextLost()) {
        LOG.debug("{}", failure.getMessage());
      } else {
        LOG.warn("{}", failure.getMessage());
      }
    }
  }
}
