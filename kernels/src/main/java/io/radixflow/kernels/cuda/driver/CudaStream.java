package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * A queue of work on the device. Only events order it with the work of other streams. Only one
 * thread at a time may use it.
 */
public final class CudaStream extends ContextResource {

  private final CUstream handle = new CUstream();
  private final String name;

  CudaStream(CudaContext context, String name) {
    super(context, "cuStreamDestroy");
    this.name = name;
    check(
        JCudaDriver.cuStreamCreate(handle, CUstream_flags.CU_STREAM_NON_BLOCKING),
        "cuStreamCreate",
        name);
    context.opened(this);
  }

  /** Blocks until all work queued so far is done. */
  public void synchronize() {
    check(JCudaDriver.cuStreamSynchronize(handle), "cuStreamSynchronize", "stream " + name);
  }

  /**
   * Makes later work of this stream wait, on the device, for the work that the event marked last.
   */
  public void waitFor(CudaEvent event) {
    check(JCudaDriver.cuStreamWaitEvent(handle, event.handle(), 0), "cuStreamWaitEvent", name);
  }

  /**
   * Records the work that {@code work} queues on this stream, instead of running it, and returns it
   * as a graph. Meanwhile this thread must not allocate, free or wait for anything in the context.
   */
  public CudaGraph capture(Runnable work) {
    check(
        JCudaDriver.cuStreamBeginCapture(
            handle, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "cuStreamBeginCapture",
        name);
    CUgraph graph = new CUgraph();
    boolean captured = false;
    try {
      work.run();
      captured = true;
    } finally {
      int result = JCudaDriver.cuStreamEndCapture(handle, graph);
      if (captured) {
        check(result, "cuStreamEndCapture", name);
      } else if (result == CUresult.CUDA_SUCCESS) {
        JCudaDriver.cuGraphDestroy(graph);
      }
    }
    try {
      CUgraphExec exec = new CUgraphExec();
      check(JCudaDriver.cuGraphInstantiate(exec, graph, 0L), "cuGraphInstantiate", name);
      return new CudaGraph(context, exec);
    } finally {
      JCudaDriver.cuGraphDestroy(graph);
    }
  }

  @Override
  int destroy() {
    return JCudaDriver.cuStreamDestroy(handle);
  }

  CUstream handle() {
    return handle;
  }

  static boolean ready(int result, String call, String about) {
    if (result == CUresult.CUDA_ERROR_NOT_READY) {
      return false;
    }
    check(result, call, about);
    return true;
  }

  @Override
  public String toString() {
    return name;
  }
}
