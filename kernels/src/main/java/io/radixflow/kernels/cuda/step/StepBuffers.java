package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.DeviceAllocator;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.weights.BFloat16;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.sampling.TokenMask;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.StepBuffer;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * All device memory of a backend except weights and KV pool, at fixed addresses: a step's metadata,
 * activations, logits and results, the ring of sampled tokens, and the tables of rotations. Freed
 * with the context.
 */
public final class StepBuffers {

  /** Number of steps whose sampled tokens the ring keeps. */
  public static final int RING_STEPS = 4;

  /** The smallest supported page. It decides the room for page tables. */
  static final int PAGE_TOKENS = 16;

  private static final long MOST_PARTIAL_BYTES = 64L << 20;
  private static final int SPARE_TILES = 2048;
  private static final int MOST_TAIL_INTS = 1 << 21;

  private final StepLayout layout;
  private final int contextLength;
  private final Map<StepBuffer, DeviceMemory> activations = new EnumMap<>(StepBuffer.class);
  private final DeviceMemory step;
  private final DeviceMemory ring;
  private final DeviceMemory logits;
  private final RotationTables rotations;
  private final DeviceMemory partials;
  private final DeviceMemory partialWeights;
  private final DeviceMemory partialsArrived;
  private final StepResults results;
  private final ExpertBuffers experts;

  public StepBuffers(DeviceAllocator device, ModelConfig config, int maxRows) {
    contextLength = config.contextLength();
    List<AttentionShape> shapes = AttentionShapes.of(config, KvSpec.Type.BF16, PAGE_TOKENS).all();
    int tiles = 0;
    for (AttentionShape shape : shapes) {
      tiles = Math.max(tiles, AttentionPlanner.fewestTiles(shape, maxRows));
    }
    int tail = tailInts(config, maxRows);
    layout = new StepLayout(maxRows, tiles + SPARE_TILES, shapes.size(), tail);
    for (StepBuffer buffer :
        List.of(
            StepBuffer.HIDDEN,
            StepBuffer.NORMED,
            StepBuffer.QKV,
            StepBuffer.ATTENDED,
            StepBuffer.GATED,
            StepBuffer.DELTA,
            StepBuffer.LOW_RANK_QUERY,
            StepBuffer.LATENT,
            StepBuffer.LATENT_QUERY,
            StepBuffer.LATENT_ATTENDED)) {
      long bytes = (long) maxRows * buffer.width(config) * BFloat16.BYTES;
      if (bytes > 0) {
        activations.put(buffer, device.allocate(bytes, "activations"));
      }
    }
    experts = ExpertBuffers.allocate(device, config, maxRows);
    if (experts != null) {
      activations.put(StepBuffer.ROUTER, experts.choices().logits());
      activations.put(StepBuffer.SHARED, experts.shared());
      activations.put(StepBuffer.SHARED_GATE, experts.sharedGate());
    }
    step = device.allocate((long) layout.ints() * Integer.BYTES, "a step's metadata");
    ring = device.allocate((long) RING_STEPS * maxRows * Integer.BYTES, "sampled tokens");
    logits =
        device.allocate((long) layout.blockOutputs() * config.vocabSize() * Float.BYTES, "logits");
    results = StepResults.allocate(device, maxRows);
    long[] bytes = new long[3];
    for (AttentionShape shape : shapes) {
      int most = maxPartials(shape);
      bytes[0] = Math.max(bytes[0], shape.partialBytes(most));
      bytes[1] = Math.max(bytes[1], shape.weightBytes(most));
      bytes[2] = Math.max(bytes[2], shape.arrivedBytes(most));
    }
    partials = device.allocate(bytes[0], "partial results of attention");
    partialWeights = device.allocate(bytes[1], "weights of attention");
    partialsArrived = device.allocate(bytes[2], "counters of attention");
    rotations = new RotationTables(device, config);
  }

  private static int tailInts(ModelConfig config, int maxRows) {
    int pages = (config.contextLength() + PAGE_TOKENS - 1) / PAGE_TOKENS;
    int adjustments = SamplingRecord.ADJUSTMENT_INTS * (config.vocabSize() + 1);
    int mask = 2 * TokenMask.words(config.vocabSize());
    int parts = mostParts(config, pages);
    long wanted = (long) maxRows * (pages + parts) + 4L * adjustments + 256L * mask;
    int least = pages + Math.min(pages, parts + maxRows / PAGE_TOKENS);
    return (int) Math.max(least + adjustments + mask, Math.min(wanted, MOST_TAIL_INTS));
  }

  /**
   * Entries of the table of window parts for a chunk of one row: the entries of one window, plus
   * alignment.
   */
  private static int mostParts(ModelConfig config, int pages) {
    int window = 0;
    for (Layer layer : config.blocks()) {
      window = Math.max(window, layer.attention().window());
    }
    int aligned = (window + AttentionPlanner.SPLIT_TOKENS) / PAGE_TOKENS + 2;
    return window == 0 ? 0 : Math.min(pages, aligned);
  }

  /** The largest number of partial results of a step for layers of a shape. */
  int maxPartials(AttentionShape shape) {
    int splits =
        (contextLength + AttentionPlanner.SPLIT_TOKENS - 1) / AttentionPlanner.SPLIT_TOKENS;
    long all = (long) layout.maxRows() * shape.group() * splits;
    return (int) Math.max(1, Math.min(all, MOST_PARTIAL_BYTES / shape.partialBytes(1)));
  }

  /** Bytes of all this memory on a device. */
  static long bytes(ModelConfig config, int maxRows) {
    long[] sum = new long[1];
    new StepBuffers(
        (bytes, what) -> {
          sum[0] += bytes;
          return null;
        },
        config,
        maxRows);
    return sum[0];
  }

  public StepLayout layout() {
    return layout;
  }

  public DeviceMemory activation(StepBuffer buffer) {
    return activations.get(buffer);
  }

  /** The memory of experts; null for a model without experts. */
  ExpertBuffers experts() {
    return experts;
  }

  /** A step's metadata, in the layout {@link #layout}. */
  public DeviceMemory step() {
    return step;
  }

  /** Appends the address of a part of the step's metadata to a launch. */
  KernelLaunch withStep(KernelLaunch launch, int offset) {
    return launch.pointer(step, (long) offset * Integer.BYTES);
  }

  /**
   * Appends the parameters that all attention kernels have in common: memory for partial results
   * and parts of the step's metadata.
   *
   * @param shape number of the layer's shape
   * @param parts whether the layer's entries are in window parts
   */
  KernelLaunch withAttentionPlan(KernelLaunch launch, int shape, boolean parts) {
    launch.pointer(partials).pointer(partialWeights).pointer(partialsArrived);
    withStep(launch, layout.plan(shape));
    withStep(launch, layout.tiles(shape));
    withStep(launch, layout.merge(shape));
    withStep(launch, layout.chunkFirstRow());
    withStep(launch, layout.chunkPosition());
    withStep(launch, parts ? layout.chunkPartStart() : layout.chunkPageStart());
    return withStep(launch, layout.tail());
  }

  /** The ring of sampled tokens: {@link #RING_STEPS} times the largest number of rows of a step. */
  public DeviceMemory ring() {
    return ring;
  }

  /** The logits, in floats: one row of the vocabulary per output of a block. */
  public DeviceMemory logits() {
    return logits;
  }

  public StepResults results() {
    return results;
  }

  /** The tables that rotate and scale queries and keys by their position. */
  public RotationTables rotations() {
    return rotations;
  }

  /** Queues a reset of the counters to zero, which the first step needs. */
  public void clearArrived(CudaStream stream) {
    partialsArrived.fillAsync((byte) 0, stream);
  }
}
