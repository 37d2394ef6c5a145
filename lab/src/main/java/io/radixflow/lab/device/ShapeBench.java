package io.radixflow.lab.device;

import io.radixflow.kernels.cuda.CudaBackend;
import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.DeviceCode;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.step.CudaModel;
import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.TensorType;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures a device: its ceilings first, then products, other kernels and steps of models' shapes
 * against the floors that the ceilings imply. Data that a step finds in the device's cache, such as
 * rows of the previous kernel, is also in the cache in the benchmarks. So small kernels may be
 * faster than their floor. Not thread-safe.
 */
public final class ShapeBench {

  private static final Logger LOG = LoggerFactory.getLogger(ShapeBench.class);

  private static final int REPETITIONS = 20;
  private static final int[] PRODUCT_ROWS = {1, 8, 64, 1024};
  private static final int[] DECODE_ROWS = {1, 8, 64, 256};
  private static final int CONTEXT = 2048;
  private static final double SHARE_FOR_PAGES = 0.8;

  private final int ordinal;
  private final double peakFlops;
  private final TensorType type;
  private final KvSpec.Type kvType;
  private final Consumer<GpuFigure> figures;
  private DeviceCeilings ceilings;

  /**
   * @param peakFlops operations per second of the tensor cores
   * @param type type of the weights, one of {@link RandomWeights#TYPES}
   * @param kvType type of keys and values: bf16 or fp8
   */
  public ShapeBench(
      int ordinal,
      double peakFlops,
      TensorType type,
      KvSpec.Type kvType,
      Consumer<GpuFigure> figures) {
    this.ordinal = ordinal;
    this.peakFlops = peakFlops;
    this.type = type;
    this.kvType = kvType;
    this.figures = figures;
  }

  /** Measures reads and copies on the device, and copies between the device and pinned memory. */
  public void ceilings() {
    try (CudaContext context = CudaContext.open(ordinal)) {
      KernelModule module = context.load(DeviceCode.load());
      ceilings = DeviceCeilings.measure(clock(context), module, figures);
    }
  }

  private static DeviceClock clock(CudaContext context) {
    return new DeviceClock(context, context.newStream("bench"), REPETITIONS);
  }

  /**
   * Measures kernels and steps of a shape in several modes; call {@link #ceilings} first. Kernels
   * that read no weights are measured only with bf16 weights, and products only with bf16 pages.
   */
  public void shape(ModelConfig config, List<GpuMode> modes) throws InterruptedException {
    RandomWeights weights;
    try {
      weights = new RandomWeights(config, type);
    } catch (IllegalArgumentException e) {
      LOG.warn("{} was not measured: {}", config.name(), e.getMessage());
      return;
    }
    for (GpuMode mode : modes) {
      if (kvType == KvSpec.Type.BF16) {
        products(config, mode, PRODUCT_ROWS);
      }
      if (type == TensorType.BF16) {
        kernels(config, mode, CONTEXT, DECODE_ROWS, CudaModel.MAX_ROWS);
      }
      try {
        steps(weights, mode);
      } catch (IllegalArgumentException e) {
        LOG.warn("No steps of {} were measured: {}", config.name(), e.getMessage());
      }
    }
  }

  /** Returns a receiver of a shape's measurements in a mode, which compares them with floors. */
  private KernelBench.Figures figures(ModelConfig config, GpuMode mode) {
    String form = type == TensorType.BF16 ? "" : type + " ";
    String pages = kvType == KvSpec.Type.BF16 ? "" : "fp8 pages ";
    String group = config.name() + " " + form + pages + mode.name().toLowerCase(Locale.ROOT);
    return (name, seconds, bytes, flops, bus) -> {
      double floor = Math.max(bytes / ceilings.bandwidth(bus), flops / peakFlops);
      figures.accept(new GpuFigure(group, name, seconds, bytes, flops, floor));
    };
  }

  /**
   * Measures the kernels except matrix products. Numbers of sequences that do not fit on the device
   * are left out.
   */
  void kernels(ModelConfig config, GpuMode mode, int context, int[] sequences, int rows) {
    try (CudaContext device = CudaContext.open(ordinal)) {
      long room = (long) (SHARE_FOR_PAGES * device.freeMemory());
      long each = context * KvSpec.of(config, kvType).bytesPerToken();
      int fit = (int) Math.min(Integer.MAX_VALUE, room / each);
      int[] fitting = Arrays.stream(sequences).filter(count -> count <= fit).toArray();
      if (fitting.length < sequences.length) {
        LOG.info("{} sequences of {} fit the device", fit, config.name());
      }
      if (fitting.length == 0) {
        return;
      }
      KernelModule module = device.load(DeviceCode.load());
      int most = Arrays.stream(fitting).max().getAsInt();
      KernelBench.Contexts contexts = new KernelBench.Contexts(context, most, kvType);
      try (KernelBench kernels =
          new KernelBench(clock(device), module, config, mode, contexts, figures(config, mode))) {
        Arrays.stream(fitting).forEach(kernels::decode);
        kernels.extend(rows);
        Arrays.stream(fitting).forEach(kernels::experts);
        kernels.moves();
      }
    }
  }

  /** Measures each product separately. */
  void products(ModelConfig config, GpuMode mode, int[] rows) {
    try (CudaContext context = CudaContext.open(ordinal)) {
      KernelModule module = context.load(DeviceCode.load());
      new ProductBench(clock(context), module, mode, WeightFormat.of(type))
          .measure(config, rows, figures(config, mode));
    }
  }

  private void steps(RandomWeights random, GpuMode mode) throws InterruptedException {
    ModelConfig config = random.config();
    double weightBytes = WeightFormat.of(type).bytesPerWeight();
    KernelBench.Figures shown = figures(config, mode);
    DeviceOptions options = new DeviceOptions("cuda", 0, kvType, mode, 0);
    try (CudaBackend backend = CudaBackend.open(random, options, ordinal)) {
      long tokenBytes = backend.kvSpec().bytesPerToken();
      for (int rows : DECODE_ROWS) {
        if ((long) rows * CONTEXT * tokenBytes > backend.poolBytes()) {
          LOG.info("{} sequences of {} do not fit the device", rows, config.name());
          continue;
        }
        try (StepBench steps = new StepBench(backend, rows, CONTEXT, CONTEXT)) {
          double bytes =
              weightBytes * StepWork.weights(config, rows) + (double) rows * CONTEXT * tokenBytes;
          double flops =
              StepWork.flops(config, rows, rows) + StepWork.attentionFlops(config, rows, CONTEXT);
          double seconds = steps.decodeAhead(REPETITIONS, CONTEXT);
          shown.accept("decode of " + rows, seconds, bytes, flops, KernelBench.Bus.MEMORY);
        }
      }
      try (StepBench steps = new StepBench(backend, 1, CONTEXT, CONTEXT)) {
        double flops =
            StepWork.flops(config, CONTEXT, 1)
                + StepWork.attentionFlops(config, CONTEXT, CONTEXT / 2);
        double bytes = weightBytes * StepWork.weights(config, CONTEXT);
        steps.prefill(CONTEXT, CONTEXT);
        double seconds = steps.prefill(CONTEXT, CONTEXT);
        shown.accept("prefill of " + CONTEXT, seconds, bytes, flops, KernelBench.Bus.MEMORY);
      }
    }
  }
}
