package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaDevice;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.CudaUnavailableException;
import io.radixflow.kernels.cuda.driver.DeviceCode;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.gemm.GemmPlan;
import io.radixflow.kernels.cuda.gemm.MatrixProducts;
import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.cuda.pages.PageTransfers;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.kernels.cuda.weights.CudaWeightLoader;
import io.radixflow.kernels.cuda.weights.CudaWeightSizes;
import io.radixflow.kernels.cuda.weights.StagingBlocks;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.DeviceRoom;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.kernels.device.OutOfDeviceMemoryException;
import io.radixflow.models.ForwardGraph;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.WeightSource;
import java.util.Locale;

/**
 * A model on a device: context, kernels, weights and the memory for steps. Closing the context
 * frees all of it.
 */
public final class CudaModel implements AutoCloseable {

  /** The largest number of rows per step. */
  public static final int MAX_ROWS = 1024;

  private static final double SHARE_OF_FREE = 0.9;

  /** Bytes reserved for the small allocations of a pool. */
  private static final long SMALL_BYTES = 1 << 20;

  /** Bytes of shared memory that a multiprocessor reserves per block. */
  private static final int RESERVED_SHARED = 1024;

  private final CudaContext context;
  private final ModelConfig config;
  private final KvSpec.Type kvType;
  private final KernelModule module;
  private final ForwardGraph<CudaMatrix, DeviceMemory> graph;
  private final CudaMatrix outputMatrix;
  private final StepBuffers buffers;
  private final GemmPlan products;
  private final DeviceMemory unpacked;
  private final long weightBytes;
  private final long poolBytes;

  private CudaModel(
      CudaContext context, WeightSource weights, DeviceOptions options, long poolBytes) {
    this.context = context;
    config = weights.config();
    MemoryNeeds needs = needs(weights);
    kvType = kvType(options);
    CudaDevice device = context.device();
    for (AttentionShape shape : AttentionShapes.of(config, kvType, StepBuffers.PAGE_TOKENS).all()) {
      if (!shape.runsOn(device)) {
        throw new IllegalArgumentException(
            String.format(
                "heads of %s elements need %s bytes of shared memory; %s has %s per block",
                shape.headDim(), shape.leastSharedBytes(), device.name(), device.sharedMemory()));
      }
    }
    long free = context.freeMemory();
    long budget = budget(options.gpuMemory(), free, device);
    new DeviceRoom(device.name(), device.totalMemory(), free, budget).require(needs, poolBytes);
    module = context.load(DeviceCode.load());
    buffers = new StepBuffers(context, config, MAX_ROWS);
    try (StagingBlocks staging = new StagingBlocks(context)) {
      CudaWeightLoader loader = new CudaWeightLoader(weights, context, staging);
      graph = new ForwardGraph<>(config, loader);
      buffers.rotations().fill(staging);
      outputMatrix = loader.output();
      weightBytes = loader.bytes();
      long bytes = loader.unpackedBytes();
      unpacked = bytes == 0 ? null : context.allocate(bytes, "unpacked weights");
    }
    long drawing = SamplingKernel.scratchBytes(buffers.layout().blockOutputs()) + SMALL_BYTES;
    this.poolBytes = Math.max(0, budget - (free - context.freeMemory()) - drawing);
    products =
        new GemmPlan(
            options.gpuMode(),
            device.multiprocessors(),
            device.hopper(),
            device.sharedMemory(),
            device.sharedMemory() + RESERVED_SHARED);
  }

  /**
   * Returns the GPU memory that a model needs. Reads no weights.
   *
   * @throws IllegalArgumentException if the kernels do not support the model
   */
  public static MemoryNeeds needs(WeightSource weights) {
    ModelConfig config = weights.config();
    ModelCheck.check(config);
    return CudaWeightSizes.of(weights, StepBuffers.bytes(config, MAX_ROWS));
  }

  /**
   * Loads a model.
   *
   * @param poolBytes size of the smallest KV pool that can be used
   * @param ordinal the driver's number of the device
   * @throws OutOfDeviceMemoryException if too little memory is free; the message gives the numbers
   * @throws IllegalArgumentException if the model or the device is not supported
   */
  public static CudaModel load(
      WeightSource weights, DeviceOptions options, long poolBytes, int ordinal) {
    CudaContext context = CudaContext.open(ordinal);
    try {
      if (context.device().problem() != null) {
        throw new CudaUnavailableException(context.device().problem());
      }
      return new CudaModel(context, weights, options, poolBytes);
    } catch (CudaException e) {
      OutOfDeviceMemoryException explained = outOfMemory(context, weights.config(), e);
      context.close();
      throw explained == null ? e : explained;
    } catch (RuntimeException | Error e) {
      context.close();
      throw e;
    }
  }

  private static OutOfDeviceMemoryException outOfMemory(
      CudaContext context, ModelConfig config, CudaException cause) {
    if (!cause.isOutOfMemory()) {
      return null;
    }
    CudaDevice device = context.device();
    return new OutOfDeviceMemoryException(
        String.format(
            Locale.ROOT,
            "model %s does not fit on %s of %d MB: %s Use a smaller model, or free the device.",
            config.name(),
            device.name(),
            device.totalMemory() >> 20,
            cause.getMessage()),
        cause);
  }

  private static long budget(long asked, long free, CudaDevice device) {
    if (asked > free) {
      String numbers =
          String.format(
              Locale.ROOT,
              "gpu.memory is %d MB; %s has %d MB free of %d MB",
              asked >> 20,
              device.name(),
              free >> 20,
              device.totalMemory() >> 20);
      if (asked > device.totalMemory()) {
        throw new IllegalArgumentException(numbers + "; lower it");
      }
      throw new OutOfDeviceMemoryException(
          numbers + "; lower it, or stop the other processes that use the device", null);
    }
    return asked > 0 ? asked : (long) (free * SHARE_OF_FREE);
  }

  public CudaContext context() {
    return context;
  }

  public ModelConfig config() {
    return config;
  }

  /** The type of keys and values. */
  public KvSpec.Type kvType() {
    return kvType;
  }

  /** The type of keys and values that the options ask for; bf16 by default. */
  public static KvSpec.Type kvType(DeviceOptions options) {
    return options.kvType() == null ? KvSpec.Type.BF16 : options.kvType();
  }

  /**
   * Identifies everything that decides the bits of a step, except the weights, the mode and the
   * compute capability.
   */
  public String numerics() {
    return module.numerics();
  }

  public StepBuffers buffers() {
    return buffers;
  }

  /** Queues a fill of a pool with random keys and values, for benchmarks. */
  public void fillRandom(CudaKvPool pool, CudaStream stream) {
    pool.fillRandom(module, stream);
  }

  /** Bytes of all weights on the device. */
  public long weightBytes() {
    return weightBytes;
  }

  /**
   * Bytes of the budget that remain for the pool, after weights, buffers and the buffers for
   * drawing tokens.
   */
  public long poolBytes() {
    return poolBytes;
  }

  /** Creates the plans of attention over a pool. */
  AttentionPlans attention(CudaKvPool pool, GpuMode mode) {
    return new AttentionPlans(context.device(), config, buffers, pool, mode);
  }

  /** Number of attention blocks that a device runs at once. */
  public static int attentionBlocks(CudaDevice device) {
    return 2 * device.multiprocessors();
  }

  /** Creates the transfers of a pool's pages, which run at the same time as the steps. */
  PageTransfers transfers(CudaKvPool pool, CudaStream steps) {
    return new PageTransfers(context, module, pool, config.layers(), steps);
  }

  /** Records the forward pass over a pool. */
  StepProgram program(CudaKvPool pool, StepProgram.Key key) {
    ProgramRecorder recorder =
        new ProgramRecorder(
            config,
            module,
            buffers,
            pool,
            new MatrixProducts(module, products, unpacked),
            attentionBlocks(context.device()),
            key);
    graph.run(recorder);
    return recorder.program();
  }

  /** Creates the last stage of a step, which computes logits and draws tokens. */
  CudaOutputStage outputStage() {
    return new CudaOutputStage(context, config, module, buffers, products, outputMatrix);
  }

  @Override
  public void close() {
    context.close();
  }
}
