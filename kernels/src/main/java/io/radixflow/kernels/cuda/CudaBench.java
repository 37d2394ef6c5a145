package io.radixflow.kernels.cuda;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.device.GpuFigure;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.model.Activation;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.RandomWeights;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import jcuda.Pointer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures a device: its ceilings first, then the products and steps of models' shapes against the
 * floors that the ceilings imply. Not thread-safe.
 */
public final class CudaBench {

  private static final Logger LOG = LoggerFactory.getLogger(CudaBench.class);
  private static final int REPETITIONS = 20;
  private static final int[] PRODUCT_ROWS = {1, 8, 64, 1024};
  private static final int[] DECODE_ROWS = {1, 8, 64, 256};
  private static final int CONTEXT = 2048;
  private static final long COPY_BYTES = 1L << 30;
  private static final long PINNED_BYTES = 256L << 20;

  private final int ordinal;
  private final double peakFlops;
  private final Consumer<GpuFigure> figures;
  private double bytesPerSecond;

  /**
   * @param peakFlops operations a second of the tensor cores
   */
  public CudaBench(int ordinal, double peakFlops, Consumer<GpuFigure> figures) {
    this.ordinal = ordinal;
    this.peakFlops = peakFlops;
    this.figures = figures;
  }

  /** Copies on the device, and between the device and pinned memory. */
  public void ceilings() {
    try (CudaContext context = CudaContext.open(ordinal)) {
      CudaStream stream = context.newStream("bench");
      long bytes = Math.min(COPY_BYTES, context.freeMemory() / 8);
      DeviceMemory from = context.allocate(bytes, "a benchmark");
      DeviceMemory to = context.allocate(bytes, "a benchmark");
      from.fillAsync((byte) 0, stream);
      double seconds = time(context, stream, () -> to.copyAsync(from, bytes, stream));
      bytesPerSecond = 2 * bytes / seconds;
      figures.accept(new GpuFigure("ceiling", "device copy", seconds, 2.0 * bytes, 0, 0));
      long small = Math.min(PINNED_BYTES, bytes);
      PinnedMemory pinned = context.allocatePinned(small, "a benchmark");
      seconds = time(context, stream, () -> to.writeAsync(pinned, small, stream));
      figures.accept(new GpuFigure("ceiling", "host to device", seconds, small, 0, 0));
      seconds = time(context, stream, () -> to.readAsync(pinned, small, stream));
      figures.accept(new GpuFigure("ceiling", "device to host", seconds, small, 0, 0));
    }
  }

  /** Products and steps of a shape in both modes, after {@link #ceilings}. */
  public void shape(ModelConfig config) throws InterruptedException {
    for (GpuMode mode : GpuMode.values()) {
      products(config, mode);
      try {
        steps(config, mode);
      } catch (IllegalArgumentException e) {
        LOG.warn("No steps of {} were measured: {}", config.name(), e.getMessage());
      }
    }
  }

  private static String group(ModelConfig config, GpuMode mode) {
    return config.name() + " " + mode.name().toLowerCase(Locale.ROOT);
  }

  private void accept(String group, String name, double seconds, double bytes, double flops) {
    double floor = Math.max(bytes / bytesPerSecond, flops / peakFlops);
    figures.accept(new GpuFigure(group, name, seconds, bytes, flops, floor));
  }

  private void products(ModelConfig config, GpuMode mode) {
    Map<String, int[]> matrices = new LinkedHashMap<>();
    int hidden = config.hiddenSize();
    matrices.put("qkv", new int[] {Activation.QKV.width(config), hidden});
    matrices.put("gate and up", new int[] {2 * config.intermediateSize(), hidden});
    matrices.put("down", new int[] {hidden, config.intermediateSize()});
    matrices.put("head", new int[] {config.vocabSize(), hidden});
    try (CudaContext context = CudaContext.open(ordinal)) {
      KernelModule module = context.load(DeviceCode.load());
      CudaStream stream = context.newStream("bench");
      for (Map.Entry<String, int[]> matrix : matrices.entrySet()) {
        int features = matrix.getValue()[0];
        int depth = matrix.getValue()[1];
        for (int rows : PRODUCT_ROWS) {
          double seconds = product(context, module, stream, mode, features, depth, rows);
          double bytes = 2.0 * ((double) features * depth + (double) rows * (features + depth));
          double flops = 2.0 * rows * features * depth;
          accept(group(config, mode), matrix.getKey() + " x " + rows, seconds, bytes, flops);
        }
      }
    }
  }

  private static double product(
      CudaContext context,
      KernelModule module,
      CudaStream stream,
      GpuMode mode,
      int features,
      int depth,
      int rows) {
    CudaDevice device = context.device();
    int shared = device.sharedMemory();
    GemmPlan plan =
        new GemmPlan(mode, device.multiprocessors(), device.hopper(), shared, shared + 1024);
    try (DeviceMemory weights = context.allocate(2L * features * depth, "weights");
        DeviceMemory source = context.allocate(2L * rows * depth, "rows");
        DeviceMemory result = context.allocate(4L * rows * features, "a product");
        DeviceMemory count = context.allocate(Integer.BYTES, "a count")) {
      weights.fillAsync((byte) 1, stream);
      source.fillAsync((byte) 1, stream);
      count.write(Pointer.to(new int[] {rows}), Integer.BYTES);
      CudaMatrix matrix = new CudaMatrix(weights, null, features, depth, false);
      KernelLaunch launch =
          ProgramRecorder.product(
              module, plan, matrix, source, result, null, GemmEpilogue.LOGITS, rows);
      launch.pointer(count).nullPointer();
      ProgramRecorder.finish(launch, matrix, GemmEpilogue.LOGITS);
      return time(context, stream, () -> launch.on(stream));
    }
  }

  private void steps(ModelConfig config, GpuMode mode) throws InterruptedException {
    DeviceOptions options = new DeviceOptions("cuda", 0, null, mode, 0);
    double weights = 2.0 * weightsRead(config);
    try (CudaBackend backend = CudaBackend.open(RandomWeights.of(config), options, ordinal)) {
      long tokenBytes = backend.kvSpec().bytesPerToken();
      for (int rows : DECODE_ROWS) {
        if ((long) rows * CONTEXT * tokenBytes > backend.poolBytes()) {
          LOG.info("{} sequences of {} do not fit the device", rows, config.name());
          continue;
        }
        try (StepBench steps = new StepBench(backend, rows, CONTEXT)) {
          double kv = (double) rows * CONTEXT * tokenBytes;
          double flops = 2.0 * rows * weightsRead(config) + attentionFlops(config, rows, CONTEXT);
          accept(
              group(config, mode),
              "decode of " + rows,
              steps.decode(REPETITIONS),
              weights + kv,
              flops);
        }
      }
      try (StepBench steps = new StepBench(backend, 1, CONTEXT)) {
        double head = (double) config.vocabSize() * config.hiddenSize();
        double flops =
            2.0 * CONTEXT * (weightsRead(config) - head)
                + 2 * head
                + attentionFlops(config, CONTEXT, CONTEXT / 2);
        accept(group(config, mode), "prefill of " + CONTEXT, steps.prefill(), weights, flops);
      }
    }
  }

  /** Weights that a step reads: all but the embedding, and the head. */
  private static double weightsRead(ModelConfig config) {
    double hidden = config.hiddenSize();
    double layer =
        hidden * (Activation.QKV.width(config) + Activation.ATTENDED.width(config))
            + 3 * hidden * config.intermediateSize();
    return config.layers() * layer + hidden * config.vocabSize();
  }

  private static double attentionFlops(ModelConfig config, int rows, int context) {
    return 4.0 * rows * context * config.layers() * config.heads() * config.headDim();
  }

  /** Seconds of one repetition, after a few that do not count. */
  private static double time(CudaContext context, CudaStream stream, Runnable work) {
    try (CudaEvent before = context.newTimedEvent();
        CudaEvent after = context.newTimedEvent()) {
      for (int i = 0; i < 3; i++) {
        work.run();
      }
      before.record(stream);
      for (int i = 0; i < REPETITIONS; i++) {
        work.run();
      }
      after.record(stream);
      after.synchronize();
      return Math.max(1e-9, after.millisecondsSince(before) * 1e-3 / REPETITIONS);
    }
  }
}
