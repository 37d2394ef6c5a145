package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.KernelProvider;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.OffHeap;
import io.radixflow.kernels.cpu.step.StepProfile;
import io.radixflow.kernels.cpu.step.StepRunner;
import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.cpu.weights.WeightFiles;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.HeapRegions;
import io.radixflow.kernels.device.HostStepTicket;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.kernels.device.MemorySource;
import io.radixflow.kernels.device.MemoryStatus;
import io.radixflow.kernels.device.PoolRequest;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.models.ForwardGraph;
import io.radixflow.models.LoggedProgress;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelProgress;
import io.radixflow.models.Sha256;
import io.radixflow.models.WeightSource;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The CPU backend. It uses native kernels if the build has them for this machine, or else plain
 * Java.
 *
 * <p>It owns its team of worker threads and the weights, which are repacked when they are loaded.
 * Worker 0 is the dispatcher thread, which runs the steps in the order of submission. Results have
 * the same bits on every machine, JDK and vector width, with any number of threads, in any batch
 * and chunk.
 *
 * <p>With KV type f32 everything is float32. With the other types, quantised weights are multiplied
 * with 16-bit activations ({@link io.radixflow.kernels.cpu.integer.IntegerProducts}). For
 * SmolLM2-135M (Q4_1), f32 logits differ from a float64 reference by at most 9e-5, and every arg
 * max is the same. f16 takes half the memory, and logits differ by at most 0.016. fp8 takes a
 * quarter of the memory, and the arg max is the same in 97 of 100 rows.
 */
public final class CpuBackend implements Backend {

  /** Part of the numerics epoch. Change it whenever the bits of a result may change. */
  static final int ARITHMETIC_VERSION = 2;

  private static final Logger LOG = LoggerFactory.getLogger(CpuBackend.class);

  private final ModelConfig config;
  private final KvSpec kvSpec;
  private final String epoch;
  private final String description;
  private final long weightBytes;
  private final boolean nativeIntegers;
  private final WorkerTeam team;
  private final PanelLoader panels;
  private final StepRunner steps;
  private final StepDispatcher dispatcher;
  private volatile CpuKvPool pool;

  private CpuBackend(
      WeightSource weights,
      KvSpec.Type kvType,
      Kernels kernels,
      PanelLoader panels,
      MemoryNeeds needs,
      ModelProgress progress) {
    this.panels = panels;
    team = panels.team();
    NativeKernels fast = panels.fast();
    config = weights.config();
    kvSpec = KvSpec.of(config, kvType);
    CpuWeightLoader loader = new CpuWeightLoader(weights, panels, team.memory(), progress);
    boolean integers = kvType != KvSpec.Type.F32;
    nativeIntegers = integers && fast != null;
    ForwardGraph<CpuMatrix, Floats> graph = load(loader, config, needs.weightBytes(), progress);
    weightBytes = loader.bytes() - (config.tiedEmbedding() ? 0 : loader.embeddingBytes());
    steps = new StepRunner(config, graph, team, kernels, fast, integers);
    epoch = epoch(weights.fingerprint(), kvType);
    description =
        String.format(
            Locale.ROOT,
            "%s, %d threads, KV %s",
            instructions(kernels, integers ? fast : null),
            team.size(),
            kvType.name().toLowerCase(Locale.ROOT));
    LOG.info("CPU backend: {}", description);
    dispatcher = new StepDispatcher(config.vocabSize(), team, this::step);
  }

  private static ForwardGraph<CpuMatrix, Floats> load(
      CpuWeightLoader loader, ModelConfig config, long bytes, ModelProgress progress) {
    progress.begin("weights of " + config.name(), bytes, 0);
    try {
      return loader.load();
    } finally {
      progress.end();
    }
  }

  /**
   * Loads a model; takes about a second per 500 million weights. The source may be closed
   * afterwards.
   *
   * @throws IllegalArgumentException if an option does not apply to this device, or the heap is too
   *     small
   * @throws io.radixflow.models.ModelFormatException if the weights do not match the model
   */
  public static CpuBackend open(WeightSource weights, DeviceOptions options) {
    return open(
        weights, options, KernelProvider.best(), KernelProvider.nativeKernels().orElse(null));
  }

  /**
   * Like {@link #open(WeightSource, DeviceOptions)}, but first checks that the model and the pool
   * that will be opened fit into memory.
   *
   * @param progress receives the number of bytes as weights are loaded
   */
  public static CpuBackend open(
      WeightSource weights,
      DeviceOptions options,
      PoolRequest pool,
      MemorySource memory,
      ModelProgress progress) {
    KvSpec spec = KvSpec.of(weights.config(), kvType(options));
    long poolBytes = pool.poolBytes(spec, CpuKvPool.PAGE_TOKENS) + pool.hostBytes();
    MemoryNeeds needs = memoryNeeds(weights);
    needs.require(memory, poolBytes, OffHeap.isUsed());
    NativeKernels fast = KernelProvider.nativeKernels().orElse(null);
    WeightFiles files =
        options.weightFiles() == 0 ? null : WeightFiles.ofUser(options.weightFiles());
    return open(weights, options, KernelProvider.best(), fast, files, needs, progress);
  }

  /** Returns the memory that a model needs. Reads no weights. */
  public static MemoryNeeds memoryNeeds(WeightSource weights) {
    return CpuMemoryNeeds.of(weights, HeapRegions.current(), usesNativeMemory());
  }

  /** Returns whether weights are outside Java's heap in this process. */
  public static boolean usesNativeMemory() {
    return KernelProvider.nativeKernels().isPresent();
  }

  private static KvSpec.Type kvType(DeviceOptions options) {
    KvSpec.Type type = options.kvType() == null ? KvSpec.Type.F16 : options.kvType();
    if (type == KvSpec.Type.BF16 || type == KvSpec.Type.SIM) {
      throw new IllegalArgumentException(
          "the CPU backend does not support KV type " + type + ", only f32, f16 and fp8");
    }
    return type;
  }

  /**
   * Loads a model that uses the given kernels.
   *
   * @param fast native kernels, or null to use only Java
   */
  static CpuBackend open(
      WeightSource weights, DeviceOptions options, Kernels kernels, NativeKernels fast) {
    return open(weights, options, kernels, fast, null);
  }

  /** Loads a model that uses files of weights, or none if {@code files} is null. */
  static CpuBackend open(
      WeightSource weights,
      DeviceOptions options,
      Kernels kernels,
      NativeKernels fast,
      WeightFiles files) {
    return open(weights, options, kernels, fast, files, memoryNeeds(weights), ModelProgress.NONE);
  }

  private static CpuBackend open(
      WeightSource weights,
      DeviceOptions options,
      Kernels kernels,
      NativeKernels fast,
      WeightFiles files,
      MemoryNeeds needs,
      ModelProgress progress) {
    KvSpec.Type kvType = kvType(options);
    WorkerTeam team = new WorkerTeam(threads(options.threads()), options.threadPriority());
    PanelLoader panels = new PanelLoader(team, fast, files);
    ModelProgress logged = new LoggedProgress(LOG::info, progress, System::nanoTime);
    try {
      return new CpuBackend(weights, kvType, kernels, panels, needs, logged);
    } catch (OutOfMemoryError e) {
      close(panels);
      throw new IllegalArgumentException(
          "the weights do not fit into memory ("
              + MemorySource.system().now().text()
              + "); use a smaller model or encoding, or without native kernels a larger -Xmx",
          e);
    } catch (RuntimeException | Error e) {
      close(panels);
      throw e;
    }
  }

  /** Frees weights after the threads that use them have ended. */
  private static void close(PanelLoader panels) {
    panels.team().close();
    panels.close();
  }

  /** Returns one line about the kernels that this JVM uses and the width of their vectors. */
  public static String instructions() {
    return instructions(KernelProvider.best(), KernelProvider.nativeKernels().orElse(null));
  }

  /** Returns one line about the native code of this build: its compiler, or why there is none. */
  public static String nativeCode() {
    return NativeKernels.description();
  }

  private static String instructions(Kernels kernels, NativeKernels fast) {
    String java = kernels.name() + " kernels, " + kernels.vectorBits() + " bit";
    return fast == null ? java : java + ", products in " + fast.isa();
  }

  private static int threads(int asked) {
    if (asked < 0) {
      throw new IllegalArgumentException("threads is " + asked + "; it must be 0 (auto) or more");
    }
    int cores = Runtime.getRuntime().availableProcessors();
    if (asked > 0) {
      return asked;
    }
    return cores > 2 ? cores - 1 : cores;
  }

  private static String epoch(String fingerprint, KvSpec.Type kvType) {
    return Sha256.digits(
        String.join(
            "|",
            fingerprint,
            "cpu",
            "arithmetic " + ARITHMETIC_VERSION,
            "activations " + (kvType == KvSpec.Type.F32 ? "f32" : "int16"),
            "kv " + kvType,
            "page " + CpuKvPool.PAGE_TOKENS + " K[element][token] V[token][element]"));
  }

  @Override
  public String name() {
    return "cpu";
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public ModelConfig model() {
    return config;
  }

  @Override
  public KvSpec kvSpec() {
    return kvSpec;
  }

  @Override
  public int[] pageTokens() {
    return new int[] {CpuKvPool.PAGE_TOKENS};
  }

  @Override
  public int maxBatchRows() {
    return StepRunner.MAX_ROWS;
  }

  @Override
  public long weightBytes() {
    return weightBytes;
  }

  @Override
  public int pipelineDepth() {
    return 1;
  }

  @Override
  public String numericsEpoch() {
    return epoch;
  }

  @Override
  public boolean poolIsOutsideHeap() {
    return OffHeap.isUsed();
  }

  @Override
  public KvPool openPool(int pages, int pageTokens) {
    return openPool(pages, 0, pageTokens);
  }

  @Override
  public KvPool openPool(int pages, int parts, int pageTokens) {
    if (parts < 0 || parts > 0 && partedWindow() == 0) {
      throw new IllegalArgumentException(parts + " window parts for a model without windows");
    }
    if (pageTokens != CpuKvPool.PAGE_TOKENS) {
      throw new IllegalArgumentException(
          "pages of " + pageTokens + " tokens are not supported, only " + CpuKvPool.PAGE_TOKENS);
    }
    if (pages <= 0) {
      throw new IllegalArgumentException("a pool of " + pages + " pages is too small");
    }
    if (pool != null) {
      throw new IllegalStateException("a pool is open already");
    }
    long inParts = parts == 0 ? 0 : kvSpec.windowBytesPerToken();
    long bytes = pageTokens * ((kvSpec.bytesPerToken() - inParts) * pages + inParts * parts);
    MemoryStatus memory = MemorySource.system().now();
    if (bytes > (OffHeap.isUsed() ? memory.leftOutside() : memory.heapLeft())) {
      throw poolTooLarge(pages, bytes, memory, null);
    }
    try {
      pool =
          new CpuKvPool(
              config,
              kvSpec.groups().get(0).type(),
              pages,
              parts,
              dispatcher::queue,
              () -> pool = null);
    } catch (OutOfMemoryError e) {
      throw poolTooLarge(pages, bytes, memory, e);
    }
    return pool;
  }

  private static IllegalArgumentException poolTooLarge(
      int pages, long bytes, MemoryStatus memory, Throwable cause) {
    return new IllegalArgumentException(
        String.format(
            Locale.ROOT,
            "a KV pool of %d pages needs %d MB %s the heap; %s; use fewer pages, KV type f16 or a"
                + " %s -Xmx",
            pages,
            bytes >> 20,
            OffHeap.isUsed() ? "outside" : "in",
            memory.text(),
            OffHeap.isUsed() ? "smaller" : "larger"),
        cause);
  }

  @Override
  public StepTicket submit(Batch batch) {
    if (batch.rows() == 0 || batch.rows() > StepRunner.MAX_ROWS) {
      throw new IllegalArgumentException(
          "a batch has 1 to " + StepRunner.MAX_ROWS + " rows, not " + batch.rows());
    }
    return dispatcher.submit(batch);
  }

  private void step(HostStepTicket ticket) {
    CpuKvPool current = pool;
    if (current == null) {
      throw new IllegalStateException("no KV pool is open");
    }
    steps.run(ticket, current);
    if (!panels.isIntact()) {
      throw new IllegalStateException(
          "the file of repacked weights was truncated or changed while it was used, or its disk"
              + " failed; restart this process, which writes the file again");
    }
  }

  /** Returns whether native kernels multiply quantised weights as integers. */
  public boolean multipliesIntegers() {
    return nativeIntegers;
  }

  /**
   * Starts to measure the steps, which makes each operation some microseconds slower. Call it only
   * while no step runs.
   *
   * @param profile receives the times; null to stop measuring
   */
  public void profile(StepProfile profile) {
    steps.profile(profile);
  }

  @Override
  public void close() {
    CpuKvPool open = pool;
    if (open != null) {
      open.close();
    }
    dispatcher.close();
    close(panels);
  }
}
