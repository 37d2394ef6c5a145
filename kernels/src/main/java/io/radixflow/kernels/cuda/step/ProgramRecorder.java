package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.gemm.GemmEpilogue;
import io.radixflow.kernels.cuda.gemm.MatrixProducts;
import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.cuda.weights.BFloat16;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.FeedForward;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.ForwardOps;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.StepBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Records the forward pass as a list of kernel launches. The product kernels also compute the gate
 * of an MLP. They add to the residual stream unless a norm or a bias comes in between.
 */
public final class ProgramRecorder implements ForwardOps<CudaMatrix, DeviceMemory> {

  private static final int ROW_THREADS = 128;
  private static final int WARPS = ROW_THREADS / 32;

  private final ModelConfig config;
  private final KernelModule module;
  private final StepBuffers buffers;
  private final CudaKvPool pool;
  private final AttentionShapes shapes;
  private final MatrixProducts products;
  private final int attentionBlocks;
  private final StepProgram.Key key;
  private final List<KernelLaunch> launches = new ArrayList<>();
  private final ExpertLaunches experts;
  private final LatentLaunches latent;
  private final int[] attendFrom;

  /** The layer whose attention was recorded last. */
  private int layer;

  /** Whether the last product already added a block's output to the residual stream. */
  private boolean added;

  /**
   * @param attentionBlocks number of attention blocks that the device runs at once
   */
  public ProgramRecorder(
      ModelConfig config,
      KernelModule module,
      StepBuffers buffers,
      CudaKvPool pool,
      MatrixProducts products,
      int attentionBlocks,
      StepProgram.Key key) {
    this.config = config;
    this.module = module;
    this.buffers = buffers;
    this.pool = pool;
    this.products = products;
    this.attentionBlocks = attentionBlocks;
    this.key = key;
    shapes = AttentionShapes.of(config, pool.type(), pool.pageTokens());
    experts =
        new ExpertLaunches(
            module, buffers.experts(), buffers.step(), config.hiddenSize(), key.rows(), launches);
    latent = new LatentLaunches(module, buffers, pool, config, key.rows(), launches);
    attendFrom = new int[config.layers()];
  }

  /** Returns the launches recorded so far. */
  public StepProgram program() {
    return new StepProgram(launches, attendFrom);
  }

  private DeviceMemory of(StepBuffer buffer) {
    return buffers.activation(buffer);
  }

  @Override
  public void embed(CudaMatrix table) {
    KernelLaunch launch =
        module.launch("rf_embed" + table.format().suffix()).pointer(table.weights());
    buffers.withStep(launch, 0);
    buffers.withStep(launch, buffers.layout().rowToken());
    launches.add(
        launch
            .pointer(buffers.ring())
            .pointer(of(StepBuffer.HIDDEN))
            .integer(config.hiddenSize())
            .integer(config.vocabSize())
            .real(config.scales().embedding())
            .grid((key.rows() + WARPS - 1) / WARPS)
            .block(ROW_THREADS));
  }

  @Override
  public void norm(StepBuffer source, DeviceMemory gain, StepBuffer target) {
    if (source == StepBuffer.DELTA) {
      experts.sum(of(source));
    }
    int width = (int) (gain.bytes() / Float.BYTES);
    KernelLaunch launch =
        module.launch("rf_norm").pointer(of(source)).pointer(gain).pointer(of(target));
    boolean lowRank = source == StepBuffer.LOW_RANK_QUERY;
    float epsilon = lowRank ? config.norm().latentEpsilon() : config.normEpsilon();
    norm(launch, width, width, epsilon, config.norm().centred());
  }

  /**
   * Normalises all query heads or all key heads. They begin at element {@code from} of each row.
   */
  private void normHeads(int from, int width, int stride, DeviceMemory gain) {
    DeviceMemory rows = of(StepBuffer.QKV);
    long offset = (long) from * BFloat16.BYTES;
    KernelLaunch launch =
        module.launch("rf_norm").pointer(rows, offset).pointer(gain).pointer(rows, offset);
    norm(launch, width, stride, config.normEpsilon(), false);
  }

  private void norm(KernelLaunch launch, int width, int stride, float epsilon, boolean centred) {
    buffers.withStep(launch, 0);
    launches.add(
        launch
            .integer(width)
            .integer(stride)
            .real(epsilon)
            .integer(centred ? 1 : 0)
            .grid(key.rows())
            .shared(512)
            .block(ROW_THREADS));
  }

  @Override
  public void matmul(CudaMatrix matrix, StepBuffer source, StepBuffer target) {
    if (matrix.format() == WeightFormat.F32) {
      experts.floatProduct(matrix, of(source), of(target));
      return;
    }
    GemmEpilogue epilogue = matrix.bias() == null ? GemmEpilogue.PLAIN : GemmEpilogue.BIAS;
    DeviceMemory residual = null;
    StepBuffer result = target;
    float scale = 1;
    float bound = 0;
    if (matrix.gated()) {
      Dense shape = dense(config.layer(layer).feedForward());
      epilogue = GemmEpilogue.of(shape.gating());
      bound = shape.limit();
      result = StepBuffer.GATED;
    } else if (target == StepBuffer.SHARED) {
      epilogue = GemmEpilogue.LOGITS;
    } else if (target == StepBuffer.DELTA) {
      added = matrix.bias() == null && !config.layer(layer).norms().after();
      if (added) {
        epilogue = GemmEpilogue.RESIDUAL;
        result = StepBuffer.HIDDEN;
        residual = of(result);
        scale = config.scales().residual();
      }
    }
    products.record(
        matrix,
        new MatrixProducts.Operands(
            of(source), of(result), residual, epilogue, scale, bound, key.rows(), buffers.step()),
        launches);
  }

  private static Dense dense(FeedForward block) {
    return block instanceof FeedForward.Experts experts ? experts.shared() : (Dense) block;
  }

  @Override
  public void ropeAndStore(int layer, DeviceMemory queryNorm, DeviceMemory keyNorm) {
    this.layer = layer;
    Grouped attention = (Grouped) config.layer(layer).attention();
    boolean ofHeads = attention.qkNorm() == QkNorm.HEAD;
    if (attention.qkNorm() == QkNorm.ALL_HEADS) {
      int queries = attention.heads() * attention.headDim();
      int keys = attention.kvHeads() * attention.headDim();
      normHeads(0, queries, queries + 2 * keys, queryNorm);
      normHeads(queries, keys, queries + 2 * keys, keyNorm);
    }
    KernelLaunch launch =
        module
            .launch("rf_rope_store" + AttentionShape.suffix(pool.type()))
            .pointer(of(StepBuffer.QKV))
            .pointerOrNull(ofHeads ? queryNorm : null)
            .pointerOrNull(ofHeads ? keyNorm : null)
            .pointerOrNull(buffers.rotations().turns(layer))
            .pointerOrNull(buffers.rotations().factors(layer))
            .pointer(pool.keys(layer))
            .pointer(pool.values(layer));
    buffers.withStep(launch, 0);
    buffers.withStep(launch, buffers.layout().rowPosition());
    StepLayout layout = buffers.layout();
    buffers.withStep(launch, pool.hasPart(layer) ? layout.rowPartSlot() : layout.rowSlot());
    launches.add(
        launch
            .integer(attention.heads())
            .integer(attention.kvHeads())
            .integer(attention.headDim())
            .real(config.normEpsilon())
            .integer(pool.pageTokens())
            .grid(key.rows())
            .block(ROW_THREADS));
  }

  @Override
  public void attend(int layer, DeviceMemory sinks) {
    attendFrom[layer] = launches.size();
    AttentionShape shape = shapes.layer(layer);
    if (shape.latent()) {
      latent.attend(layer, shapes, attentionBlocks);
      return;
    }
    if (key.keys()) {
      attention(shape.keysKernel(), layer, sinks, shape.keysSharedBytes());
    }
    if (key.packed()) {
      attention(shape.rowsKernel(), layer, sinks, shape.rowsSharedBytes());
    }
  }

  private void attention(String kernel, int layer, DeviceMemory sinks, int sharedBytes) {
    AttentionShape shape = shapes.layer(layer);
    Grouped attention = (Grouped) config.layer(layer).attention();
    KernelLaunch launch =
        module
            .launch(kernel)
            .grid(Math.max(1, attentionBlocks / shape.kvHeads()), shape.kvHeads(), 1)
            .block(AttentionShape.THREADS)
            .shared(sharedBytes)
            .pointer(of(StepBuffer.QKV))
            .integer((shape.heads() + 2 * shape.kvHeads()) * shape.headDim())
            .pointer(pool.keys(layer))
            .pointer(pool.values(layer))
            .pointer(of(StepBuffer.ATTENDED));
    buffers.withAttentionPlan(launch, shapes.number(layer), pool.hasPart(layer));
    launch.integer(shape.kvHeads()).integer(shape.group()).integer(shape.pageTokens());
    new ScoreArguments(attention.scores(), attention.window(), sinks).append(launch);
    launches.add(launch);
  }

  @Override
  public void gate(FeedForward.Dense shape) {}

  @Override
  public void ropeAndStoreLatent(int layer, DeviceMemory latentNorm) {
    this.layer = layer;
    latent.store(layer, latentNorm);
  }

  @Override
  public void compressQueries(int layer, List<CudaMatrix> keys) {
    latent.compressQueries(layer, keys);
  }

  @Override
  public void expandValues(int layer, List<CudaMatrix> values) {
    latent.expandValues(layer, values);
  }

  @Override
  public void experts(
      int layer, ExpertWeights<CudaMatrix, DeviceMemory> weights, StepBuffer source) {
    experts.record((FeedForward.Experts) config.layer(layer).feedForward(), weights, of(source));
  }

  @Override
  public void addShared(boolean gated) {
    experts.addShared(gated);
  }

  @Override
  public void addResidual() {
    if (experts.add(of(StepBuffer.HIDDEN), config.scales().residual()) || added) {
      return;
    }
    KernelLaunch launch =
        module.launch("rf_add").pointer(of(StepBuffer.HIDDEN)).pointer(of(StepBuffer.DELTA));
    buffers.withStep(launch, 0);
    launches.add(
        launch
            .integer(config.hiddenSize())
            .real(config.scales().residual())
            .grid((key.rows() + WARPS - 1) / WARPS)
            .block(ROW_THREADS));
  }

  @Override
  public void outputs(DeviceMemory norm, CudaMatrix head) {
    norm(StepBuffer.HIDDEN, norm, StepBuffer.NORMED);
  }
}
