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
 * Logits and draws of a step's outputs, a block of {@link StepLayout#blockOutputs} at a time. Used
 * by the thread that submits.
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

  /** Makes the launches for up to so many outputs; a later {@link #run} then makes none. */
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
   * @param outputs outputs that the grids have room for, at most {@link #blockOutputs}
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
