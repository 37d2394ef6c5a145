package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import jcuda.driver.CUgraphExec;
import jcuda.driver.JCudaDriver;

/**
 * Work that was captured from a stream and is launched as a whole. Kernels keep the parameters that
 * they had when they were captured, so values that change between launches must be in device
 * memory.
 */
public final class CudaGraph extends ContextResource {

  private final CUgraphExec exec;

  CudaGraph(CudaContext context, CUgraphExec exec) {
    super(context, "cuGraphExecDestroy");
    this.exec = exec;
    context.opened(this);
  }

  /** Sends the graph to the device now, so that the first launch is fast. */
  public void upload(CudaStream stream) {
    check(JCudaDriver.cuGraphUpload(exec, stream.handle()), "cuGraphUpload", "on " + stream);
  }

  /** Queues the graph's work on the stream. */
  public void launch(CudaStream stream) {
    check(JCudaDriver.cuGraphLaunch(exec, stream.handle()), "cuGraphLaunch", "on " + stream);
  }

  @Override
  int destroy() {
    return JCudaDriver.cuGraphExecDestroy(exec);
  }
}
