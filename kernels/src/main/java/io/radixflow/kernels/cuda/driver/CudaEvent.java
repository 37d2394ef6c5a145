package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.JCudaDriver;

/**
 * A point in a stream's work that the host and other streams can wait for. Recording the event
 * again moves the point. Only one thread at a time may use it.
 */
public final class CudaEvent extends ContextResource {

  private static final int FEW_PROCESSORS = 4;

  private final CUevent handle = new CUevent();

  CudaEvent(CudaContext context, boolean timed) {
    super(context, "cuEventDestroy");
    int flags = timed ? CUevent_flags.CU_EVENT_DEFAULT : CUevent_flags.CU_EVENT_DISABLE_TIMING;
    if (isBlocking()) {
      flags |= CUevent_flags.CU_EVENT_BLOCKING_SYNC;
    }
    check(JCudaDriver.cuEventCreate(handle, flags), "cuEventCreate");
    context.opened(this);
  }

  /**
   * Returns whether threads sleep while they wait for the device. On a machine with few processors,
   * a spinning thread would take a processor from the threads that prepare the next step. Waking a
   * sleeping thread takes a few microseconds.
   */
  static boolean isBlocking() {
    return Runtime.getRuntime().availableProcessors() <= FEW_PROCESSORS;
  }

  /** Marks the work queued on the stream so far. */
  public void record(CudaStream stream) {
    check(JCudaDriver.cuEventRecord(handle, stream.handle()), "cuEventRecord");
  }

  /** Blocks until the marked work is done. Returns at once if no work was marked. */
  public void synchronize() {
    check(JCudaDriver.cuEventSynchronize(handle), "cuEventSynchronize");
  }

  /** Returns whether the marked work is done. */
  public boolean isDone() {
    return CudaStream.ready(JCudaDriver.cuEventQuery(handle), "cuEventQuery", "");
  }

  /**
   * Returns the milliseconds from {@code earlier} to this event. Both events must be done and must
   * have been created with timing.
   */
  public float millisecondsSince(CudaEvent earlier) {
    float[] milliseconds = new float[1];
    check(
        JCudaDriver.cuEventElapsedTime(milliseconds, earlier.handle, handle), "cuEventElapsedTime");
    return milliseconds[0];
  }

  @Override
  int destroy() {
    return JCudaDriver.cuEventDestroy(handle);
  }

  CUevent handle() {
    return handle;
  }
}
