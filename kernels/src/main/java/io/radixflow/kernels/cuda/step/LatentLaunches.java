package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.gemm.GroupedProduct;
import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.StepBuffer;
import java.util.List;

/**
 * Records the operations of latent attention: the kernels of latent.cuh and the products of each
 * head.
 */
final class LatentLaunches {

  private static final int STORE_THREADS = 128;

  private final KernelModule module;
  private final StepBuffers buffers;
  private final CudaKvPool pool;
  private final ModelConfig config;
  private final int rows;
  private final List<KernelLaunch> launches;

  /**
   * @param rows number of rows that the grids have room for
   * @param launches receives the launches
   */
  LatentLaunches(
      KernelModule module,
      StepBuffers buffers,
      CudaKvPool pool,
      ModelConfig config,
      int rows,
      List<KernelLaunch> launches) {
    this.module = module;
    this.buffers = buffers;
    this.pool = pool;
    this.config = config;
    this.rows = rows;
    this.launches = launches;
  }

  private Latent shape(int layer) {
    return (Latent) config.layer(layer).attention();
  }

  /**
   * Writes compressed keys to the pool, and the rotated parts of queries after the compressed
   * parts.
   */
  void store(int layer, DeviceMemory gain) {
    Latent shape = shape(layer);
    KernelLaunch launch =
        module
            .launch("rf_latent_store" + AttentionShape.suffix(pool.type()))
            .pointer(buffers.activation(StepBuffer.LATENT))
            .pointer(gain)
            .pointer(buffers.rotations().turns(layer))
            .pointer(buffers.activation(StepBuffer.QKV))
            .pointer(buffers.activation(StepBuffer.LATENT_QUERY))
            .pointer(pool.keys(layer));
    buffers.withStep(launch, StepLayout.ROWS);
    buffers.withStep(launch, buffers.layout().rowPosition());
    buffers.withStep(launch, buffers.layout().rowSlot());
    launches.add(
        launch
            .integer(shape.heads())
            .integer(shape.kvRank())
            .integer(shape.plainDim())
            .integer(shape.rotatedDim())
            .integer(shape.rope().interleaved() ? 1 : 0)
            .real(config.norm().latentEpsilon())
            .integer(pool.pageTokens())
            .grid(rows)
            .block(STORE_THREADS)
            .shared((STORE_THREADS / 32 + shape.keyWidth()) * Float.BYTES));
  }

  /** Projects the unrotated part of each head's query into the space of the compressed keys. */
  void compressQueries(int layer, List<CudaMatrix> keys) {
    Latent shape = shape(layer);
    DeviceMemory queries = buffers.activation(StepBuffer.QKV);
    launches.add(
        new GroupedProduct(module, keys, queries, buffers.activation(StepBuffer.LATENT_QUERY))
            .ofHeads(buffers.step(), rows, shape.queryDim(), shape.keyWidth()));
  }

  /** Expands each head's weighted sum of compressed vectors to a value. */
  void expandValues(int layer, List<CudaMatrix> values) {
    Latent shape = shape(layer);
    DeviceMemory sums = buffers.activation(StepBuffer.LATENT_ATTENDED);
    launches.add(
        new GroupedProduct(module, values, sums, buffers.activation(StepBuffer.ATTENDED))
            .ofHeads(buffers.step(), rows, shape.kvRank(), shape.valueDim()));
  }

  /**
   * Computes attention over the pool.
   *
   * @param blocks number of blocks that the device runs at once
   */
  void attend(int layer, AttentionShapes shapes, int blocks) {
    AttentionShape shape = shapes.layer(layer);
    KernelLaunch launch =
        module
            .launch(shape.keysKernel())
            .grid(blocks)
            .block(AttentionShape.THREADS)
            .shared(shape.keysSharedBytes())
            .pointer(buffers.activation(StepBuffer.LATENT_QUERY))
            .pointer(pool.keys(layer))
            .pointer(buffers.activation(StepBuffer.LATENT_ATTENDED));
    buffers.withAttentionPlan(launch, shapes.number(layer), false);
    launches.add(
        launch
            .integer(shape.heads())
            .integer(shape.pageTokens())
            .real((float) (shape(layer).scale() / StrictMath.log(2))));
  }
}
