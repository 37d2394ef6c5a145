package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import jcuda.driver.CUgraphExec;
import jcuda.driver.JCudaDriver;

/**
 * Work captured from a stream, launched as a whole. The kernels' parameters are those of the
 * capture: whatever changes between launches must lie in device memory.
 */
public final class CudaGraph implements ContextResource {

  private final CudaContext context;
  private final CUgraphExec exec;
  private boolean closed;

  CudaGraph(CudaContext context, CUgraphExec exec) {
    this.context = context;
    this.exec = exec;
    context.opened(this);
  }

  /** Queues all of it. */
  public void launch(CudaStream stream) {
    check(JCudaDriver.cuGraphLaunch(exec, stream.handle()), "cuGraphLaunch", "on " + stream);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      context.free(this, () -> JCudaDriver.cuGraphExecDestroy(exec), "cuGraphExecDestroy");
    }
  }
}
