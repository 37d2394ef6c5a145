package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.kernels.model.Activation;
import io.radixflow.kernels.model.FeedForward;
import io.radixflow.kernels.model.ForwardOps;
import io.radixflow.kernels.model.ModelConfig;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes down the forward pass as launches of kernels. The products add the residual and gate the
 * MLP themselves, so those operations need no kernel of their own.
 */
public final class ProgramRecorder implements ForwardOps<CudaMatrix, DeviceMemory> {

  private static final int ROW_THREADS = 128;
  private static final int WARPS = ROW_THREADS / 32;

  private final ModelConfig config;
  private final KernelModule module;
  private final StepBuffers buffers;
  private final CudaKvPool pool;
  private final AttentionShape shape;
  private final GemmPlan products;
  private final int attentionBlocks;
  private final StepProgram.Key key;
  private final List<KernelLaunch> launches = new ArrayList<>();
  private final ExpertLaunches experts;
  private final int[] attendFrom;

  /**
   * @param attentionBlocks blocks of the attention kernels that the device runs at once
   */
  public ProgramRecorder(
      ModelConfig config,
      KernelModule module,
      StepBuffers buffers,
      CudaKvPool pool,
      GemmPlan products,
      int attentionBlocks,
      StepProgram.Key key) {
    this.config = config;
    this.module = module;
    this.buffers = buffers;
    this.pool = pool;
    this.products = products;
    this.attentionBlocks = attentionBlocks;
    this.key = key;
    shape = AttentionShape.of(config, pool.pageTokens());
    experts =
        new ExpertLaunches(
            module, buffers.experts(), buffers.step(), config.hiddenSize(), key.rows(), launches);
    attendFrom = new int[config.layers()];
  }

  /** The launches recorded so far. */
  public StepProgram program() {
    return new StepProgram(launches, attendFrom);
  }

  private DeviceMemory of(Activation activation) {
    return buffers.activation(activation);
  }

  private KernelLaunch step(KernelLaunch launch, int offset) {
    return launch.pointer(buffers.step(), (long) offset * Integer.BYTES);
  }

  @Override
  public void embed(CudaMatrix table) {
    KernelLaunch launch =
        module.launch("rf_embed" + table.format().suffix()).pointer(table.weights());
    step(launch, 0);
    step(launch, buffers.layout().rowToken());
    launches.add(
        launch
            .pointer(buffers.ring())
            .pointer(of(Activation.HIDDEN))
            .integer(config.hiddenSize())
            .integer(config.vocabSize())
            .grid((key.rows() + WARPS - 1) / WARPS)
            .block(ROW_THREADS));
  }

  @Override
  public void norm(Activation source, DeviceMemory gain, Activation target) {
    KernelLaunch launch =
        module.launch("rf_rms_norm").pointer(of(source)).pointer(gain).pointer(of(target));
    step(launch, 0);
    launches.add(
        launch
            .integer(config.hiddenSize())
            .real(config.normEpsilon())
            .grid(key.rows())
            .shared(512)
            .block(ROW_THREADS));
  }

  @Override
  public void matmul(CudaMatrix matrix, Activation source, Activation target) {
    if (matrix.format() == WeightFormat.F32) {
      experts.floatProduct(matrix, of(source), of(target));
      return;
    }
    DeviceMemory extra = null;
    GemmEpilogue epilogue = GemmEpilogue.PLAIN;
    Activation result = target;
    if (matrix.bias() != null) {
      epilogue = GemmEpilogue.BIAS;
      extra = matrix.bias();
    } else if (target == Activation.DELTA) {
      epilogue = GemmEpilogue.RESIDUAL;
      result = Activation.HIDDEN;
      extra = of(result);
    } else if (matrix.gated()) {
      epilogue = GemmEpilogue.SWIGLU;
      result = Activation.GATED;
    } else if (target == Activation.SHARED) {
      epilogue = GemmEpilogue.LOGITS;
    }
    KernelLaunch launch =
        product(module, products, matrix, of(source), of(result), extra, epilogue, key.rows());
    step(launch, StepLayout.ROWS);
    launches.add(finish(launch.nullPointer(), matrix, epilogue));
  }

  /** A product whose number of rows and gather are still to be appended. */
  public static KernelLaunch product(
      KernelModule module,
      GemmPlan products,
      CudaMatrix matrix,
      DeviceMemory source,
      DeviceMemory result,
      DeviceMemory extra,
      GemmEpilogue epilogue,
      int rows) {
    GemmKernel kernel = products.kernel(matrix.format(), rows, matrix.rows(), matrix.columns());
    return product(module, kernel, matrix, source, result, extra, epilogue, rows);
  }

  /** The same by a given kernel. */
  public static KernelLaunch product(
      KernelModule module,
      GemmKernel kernel,
      CudaMatrix matrix,
      DeviceMemory source,
      DeviceMemory result,
      DeviceMemory extra,
      GemmEpilogue epilogue,
      int rows) {
    KernelLaunch launch =
        module
            .launch(kernel.function())
            .grid(kernel.gridX(matrix.rows()), kernel.gridY(rows), 1)
            .block(kernel.threads())
            .shared(kernel.sharedBytes())
            .pointer(matrix.weights())
            .pointer(source)
            .pointer(result);
    return extra == null ? launch.nullPointer() : launch.pointer(extra);
  }

  public static KernelLaunch finish(KernelLaunch launch, CudaMatrix matrix, GemmEpilogue epilogue) {
    return launch.integer(matrix.rows()).integer(matrix.columns()).integer(epilogue.code());
  }

  @Override
  public void ropeAndStore(int layer, DeviceMemory queryNorm, DeviceMemory keyNorm) {
    KernelLaunch launch = module.launch("rf_rope_store").pointer(of(Activation.QKV));
    norm(launch, queryNorm);
    norm(launch, keyNorm);
    launch.pointer(buffers.rotations()).pointer(pool.keys(layer)).pointer(pool.values(layer));
    step(launch, 0);
    step(launch, buffers.layout().rowPosition());
    step(launch, buffers.layout().rowSlot());
    launches.add(
        launch
            .integer(config.heads())
            .integer(config.kvHeads())
            .integer(config.headDim())
            .real(config.normEpsilon())
            .grid(key.rows())
            .block(ROW_THREADS));
  }

  private static void norm(KernelLaunch launch, DeviceMemory gain) {
    if (gain == null) {
      launch.nullPointer();
    } else {
      launch.pointer(gain);
    }
  }

  @Override
  public void attend(int layer, DeviceMemory sinks) {
    int blocks = Math.max(1, attentionBlocks / config.kvHeads());
    attendFrom[layer] = launches.size();
    if (key.keys()) {
      attention(shape.keysKernel(), layer, shape.keysSharedBytes())
          .grid(blocks, config.kvHeads(), 1);
    }
    if (key.packed()) {
      attention(shape.rowsKernel(), layer, shape.rowsSharedBytes())
          .grid(blocks, config.kvHeads(), 1);
    }
  }

  private KernelLaunch attention(String kernel, int layer, int sharedBytes) {
    StepLayout layout = buffers.layout();
    KernelLaunch launch =
        module
            .launch(kernel)
            .block(AttentionShape.THREADS)
            .shared(sharedBytes)
            .pointer(of(Activation.QKV))
            .integer(Activation.QKV.width(config))
            .pointer(pool.keys(layer))
            .pointer(pool.values(layer))
            .pointer(of(Activation.ATTENDED))
            .pointer(buffers.partials())
            .pointer(buffers.partialWeights())
            .pointer(buffers.partialsArrived());
    for (int offset :
        new int[] {
          0,
          layout.tiles(),
          layout.merge(),
          layout.chunkFirstRow(),
          layout.chunkPosition(),
          layout.chunkPageStart(),
          layout.tail()
        }) {
      step(launch, offset);
    }
    launches.add(
        launch
            .integer(config.kvHeads())
            .integer(shape.group())
            .integer(shape.pageTokens())
            .real(shape.scale()));
    return launch;
  }

  @Override
  public void gate(FeedForward.Dense shape) {}

  @Override
  public void ropeAndStoreLatent(int layer, DeviceMemory latentNorm) {
    throw unknown();
  }

  @Override
  public void compressQueries(int layer, List<CudaMatrix> keys) {
    throw unknown();
  }

  @Override
  public void expandValues(int layer, List<CudaMatrix> values) {
    throw unknown();
  }

  @Override
  public void experts(
      int layer, ExpertWeights<CudaMatrix, DeviceMemory> weights, Activation source) {
    experts.record((FeedForward.Experts) config.layer(layer).feedForward(), weights, of(source));
  }

  @Override
  public void addShared(boolean gated) {
    experts.addShared(gated);
  }

  /** Models that need these operations are refused when they are loaded. */
  private static IllegalStateException unknown() {
    return new IllegalStateException("an operation without a CUDA kernel");
  }

  @Override
  public void addResidual() {
    experts.add(of(Activation.HIDDEN));
  }

  @Override
  public void outputs(DeviceMemory norm, CudaMatrix head) {
    norm(Activation.HIDDEN, norm, Activation.NORMED);
  }
}
