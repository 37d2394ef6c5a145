package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.gemm.GemmEpilogue;
import io.radixflow.kernels.cuda.gemm.GemmLaunch;
import io.radixflow.kernels.cuda.gemm.GemmPlan;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.StepBuffer;

/**
 * Computes the logits of a step's outputs and draws their tokens, {@link StepLayout#blockOutputs}
 * outputs at a time. The thread that submits uses it.
 */
final class CudaOutputStage implements AutoCloseable {

  private static final int ROWS = 6;
  private static final int GATHER = 7;

  private final StepBuffers buffers;
  private final KernelModule module;
  private final GemmPlan products;
  private final CudaMatrix head;
  private final ModelConfig.Scales scales;
  private final SamplingKernel sampling;
  private final KernelLaunch[] byBucket;

  CudaOutputStage(
      CudaContext context,
      ModelConfig config,
      KernelModule module,
      StepBuffers buffers,
      GemmPlan products,
      CudaMatrix head) {
    this.buffers = buffers;
    this.module = module;
    this.products = products;
    this.head = head;
    scales = config.scales();
    byBucket = new KernelLaunch[Integer.SIZE];
    sampling =
        new SamplingKernel(
            context,
            module,
            buffers.layout(),
            buffers.step(),
            buffers.logits(),
            buffers.ring(),
            buffers.results(),
            config.vocabSize(),
            buffers.layout().blockOutputs());
  }

  int blockOutputs() {
    return buffers.layout().blockOutputs();
  }

  /**
   * Prepares the launches for up to {@code outputs} outputs, so that a later {@link #run} need not.
   */
  void prepare(int outputs) {
    int bucket = StepSizes.number(outputs);
    if (byBucket[bucket] == null) {
      KernelLaunch launch =
          GemmLaunch.begin(
              module,
              products,
              head,
              buffers.activation(StepBuffer.NORMED),
              buffers.logits(),
              null,
              Math.min(1 << bucket, blockOutputs()));
      launch.pointer(buffers.step()).pointer(buffers.step());
      byBucket[bucket] =
          GemmLaunch.finish(
              launch, head, GemmEpilogue.LOGITS, scales.logits(), scales.logitCap(), head.rows());
    }
  }

  /**
   * Queues one block.
   *
   * @param block number of the block
   * @param outputs number of outputs that the grids have room for, at most {@link #blockOutputs}
   */
  void run(int block, int outputs, CudaStream stream) {
    prepare(outputs);
    StepLayout layout = buffers.layout();
    int first = block * layout.blockOutputs();
    KernelLaunch launch = byBucket[StepSizes.number(outputs)];
    launch.setWide(ROWS, address(StepLayout.BLOCK_OUTPUTS + block));
    launch.setWide(GATHER, address(layout.outputRow() + first));
    launch.on(stream);
    sampling.sample(first, outputs, stream);
  }

  private long address(int offset) {
    return buffers.step().address() + (long) offset * Integer.BYTES;
  }

  @Override
  public void close() {
    sampling.close();
  }
}
