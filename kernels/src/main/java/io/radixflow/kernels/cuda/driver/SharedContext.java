package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import java.util.HashMap;
import java.util.Map;
import jcuda.driver.CUcontext;
import jcuda.driver.CUctx_flags;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's context of a device. All users of the device in a process share it. It is created
 * for the first user and destroyed after the last.
 *
 * <p>If it is lost, no user can use it any more, but it stays until the last user has closed it,
 * because its pinned memory is mapped into the process until then. A new user gets a new context.
 * The device's primary context cannot be used for this: it can only be reset for all users at once,
 * and its addresses would be reused while some users still have them.
 *
 * <p>Safe for use by several threads.
 */
final class SharedContext {

  private static final Logger LOG = LoggerFactory.getLogger(SharedContext.class);
  private static final Map<Integer, SharedContext> CURRENT = new HashMap<>();

  private final CudaDevice device;
  private final CUcontext handle = new CUcontext();
  private int users = 1;
  private volatile boolean lost;

  /** Creates the context and makes it the context of the calling thread. */
  private SharedContext(CudaDevice device) {
    this.device = device;
    CUdevice number = new CUdevice();
    check(JCudaDriver.cuDeviceGet(number, device.ordinal()), "cuDeviceGet");
    int waiting =
        CudaEvent.isBlocking()
            ? CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC
            : CUctx_flags.CU_CTX_SCHED_AUTO;
    check(
        JCudaDriver.cuCtxCreate(handle, waiting | CUctx_flags.CU_CTX_MAP_HOST, number),
        "cuCtxCreate",
        "a context on " + device.name());
  }

  /**
   * Returns the device's context and makes it the context of the calling thread. {@link #release}
   * ends its use.
   *
   * @throws CudaException if the driver fails
   */
  static synchronized SharedContext acquire(CudaDevice device) {
    SharedContext shared = CURRENT.get(device.ordinal());
    if (shared != null && shared.works()) {
      shared.users++;
      return shared;
    }
    SharedContext fresh = new SharedContext(device);
    CURRENT.put(device.ordinal(), fresh);
    return fresh;
  }

  /** Checks for a loss that no user has noticed yet. After a loss, every driver call reports it. */
  private boolean works() {
    if (!lost) {
      int result = JCudaDriver.cuCtxSetCurrent(handle);
      if (result == CUresult.CUDA_SUCCESS) {
        result = JCudaDriver.cuMemGetInfo(new long[1], new long[1]);
      }
      lost = CudaException.isLoss(result);
    }
    return !lost;
  }

  /** Makes this the calling thread's context. */
  void bind() {
    check(JCudaDriver.cuCtxSetCurrent(handle), "cuCtxSetCurrent");
  }

  /** Marks the context as lost for all users. */
  void lose() {
    lost = true;
  }

  /** Returns whether a user has noticed the loss of the context. */
  boolean isLost() {
    return lost;
  }

  /** Ends one use. The last one destroys the context and everything left in it. */
  void release() {
    synchronized (SharedContext.class) {
      if (--users > 0) {
        return;
      }
      CURRENT.remove(device.ordinal(), this);
      int result = JCudaDriver.cuCtxDestroy(handle);
      if (result != CUresult.CUDA_SUCCESS) {
        LOG.warn("{}", CudaException.of(result, "cuCtxDestroy", device.name()).getMessage());
      }
    }
  }
}
