package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import jcuda.driver.CUgraphExec;
import jcuda.driver.JCudaDriver;

/**
 * Work captured from a stream, launched as a whole. The kernels keep the parameters of the capture,
 * so values that change between launches must be in device memory.
 */
public final class CudaGraph extends ContextResource {

  private final CUgraphExec exec;

  CudaGraph(CudaContext context, CUgraphExec exec) {
    super(context, "cuGraphExecDestroy");
    this.exec = exec;
    context.opened(this);
  }

  /** Sends it to the device, so that its first launch does not. */
  public void upload(CudaStream stream) {
    check(JCudaDriver.cuGraphUpload(exec, stream.handle()), "cuGraphUpload", "on " + stream);
  }

  /** Queues all of it. */
  public void launch(CudaStream stream) {
    check(JCudaDriver.cuGraphLaunch(exec, stream.handle()), "cuGraphLaunch", "on " + stream);
  }

  @Override
  int destroy() {
    return JCudaDriver.cuGraphExecDestroy(exec);
  }
}
