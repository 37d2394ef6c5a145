package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.cpu.kernel.KernelProvider;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;

/**
 * The logits of a token depend on its prefix alone, bit for bit: not on the batch around it, the
 * chunks of its prefill, the pages, the threads or the kernels.
 */
class BitIdentityProperties {

  private static final int PAGES = 256;
  private static final int POSITIONS = 150;

  private static final Map<String, CpuBackend> BACKENDS = new HashMap<>();
  private static final Map<String, float[][]> REFERENCES = new HashMap<>();

  @AfterContainer
  static void closeBackends() {
    BACKENDS.values().forEach(CpuBackend::close);
  }

  private enum Model {
    LLAMA(SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1)),
    QWEN2(SyntheticWeights.of(Shapes.qwen2(), TensorType.Q8_0)),
    QWEN3(SyntheticWeights.of(Shapes.qwen3(), TensorType.BF16)),
    ODD(SyntheticWeights.of(Shapes.odd(), TensorType.F16)),
    WINDOWED(SyntheticWeights.of(Shapes.windowed(), TensorType.BF16)),
    SINKS(SyntheticWeights.of(Shapes.sinks(), TensorType.F32)),
    PARALLEL(SyntheticWeights.of(Shapes.parallel(), TensorType.F16)),
    LATENT(SyntheticWeights.of(Shapes.latent(), TensorType.BF16)),
    HYBRID(
        SyntheticWeights.of(Shapes.mixture(), TensorType.Q4_0, TensorType.Q5_1, TensorType.Q8_0)),
    K_QUANTS(SyntheticWeights.of(Shapes.wide(), TensorType.Q4_K, TensorType.Q6_K, TensorType.Q6_K));

    private final SyntheticWeights weights;

    Model(SyntheticWeights weights) {
      this.weights = weights;
    }
  }

  @Provide
  Arbitrary<KvSpec.Type> kvTypes() {
    return Arbitraries.of(KvSpec.Type.F32, KvSpec.Type.F16, KvSpec.Type.FP8);
  }

  /** What codes are multiplied by where the KV type has them multiplied in integers. */
  private enum Code {
    SCALAR,
    NATIVE;

    Kernels kernels() {
      return KernelProvider.of(products());
    }

    /** Where there is none, Java multiplies. */
    NativeKernels products() {
      Optional<NativeKernels.Isa> isa = this == NATIVE ? NativeKernels.fastest() : Optional.empty();
      return isa.map(NativeKernels::new).orElse(null);
    }
  }

  @Property(tries = 180, shrinking = ShrinkingMode.OFF)
  void logitsDependOnThePrefixAlone(
      @ForAll Model model,
      @ForAll("kvTypes") KvSpec.Type kvType,
      @ForAll Code code,
      @ForAll @IntRange(min = 1, max = 2) int threads,
      @ForAll @IntRange(min = 1, max = 8) int sequences,
      @ForAll @IntRange(min = 0, max = 3) int chunkChoice,
      @ForAll long seed)
      throws InterruptedException {
    int chunk = new int[] {1, 7, 16, 256}[chunkChoice];
    SyntheticTensor.Mix random = new SyntheticTensor.Mix(seed);
    CpuBackend backend = backend(model, kvType, code, threads);
    ModelConfig config = model.weights.config();
    int[] freePages = shuffledPages(random);
    List<Sequence> running = new ArrayList<>();
    for (int i = 0; i < sequences; i++) {
      running.add(new Sequence(i, config.vocabSize(), 1 + random.below(POSITIONS), freePages));
      reference(model, kvType, i);
    }
    while (!running.isEmpty()) {
      step(backend, running, chunk, random);
      for (Sequence sequence : running) {
        float[][] expected = reference(model, kvType, sequence.number);
        for (int i = 0; i < sequence.stepRows; i++) {
          assertThat(Arrays.mismatch(sequence.logits[i], expected[sequence.done + i]))
              .as("sequence %d, position %d", sequence.number, sequence.done + i)
              .isEqualTo(-1);
        }
        sequence.done += sequence.stepRows;
      }
      running.removeIf(sequence -> sequence.done == sequence.tokens.length);
    }
  }

  private static void step(
      CpuBackend backend, List<Sequence> running, int chunk, SyntheticTensor.Mix random)
      throws InterruptedException {
    Batch batch = new Batch();
    for (Sequence sequence : running) {
      int left = sequence.tokens.length - sequence.done;
      sequence.stepRows = Math.min(left, random.below(3) == 0 ? 1 : chunk);
      sequence.firstOutput = batch.outputs();
      batch.beginChunk(sequence.pages, sequence.pages.length, sequence.done);
      for (int i = 0; i < sequence.stepRows; i++) {
        batch.token(sequence.tokens[sequence.done + i]);
        batch.output(null, Batch.LOGITS);
      }
      if (batch.rows() + chunk > backend.maxBatchRows()) {
        running
            .subList(running.indexOf(sequence) + 1, running.size())
            .forEach(skipped -> skipped.stepRows = 0);
        break;
      }
    }
    StepTicket ticket = Sequences.run(backend, batch);
    for (Sequence sequence : running) {
      sequence.logits = new float[sequence.stepRows][backend.model().vocabSize()];
      for (int i = 0; i < sequence.stepRows; i++) {
        ticket.logits(sequence.firstOutput + i, sequence.logits[i]);
      }
    }
  }

  private static int[] shuffledPages(SyntheticTensor.Mix random) {
    int[] pages = Sequences.pages(PAGES * CpuKvPool.PAGE_TOKENS);
    for (int i = pages.length - 1; i > 0; i--) {
      int j = random.below(i + 1);
      int page = pages[i];
      pages[i] = pages[j];
      pages[j] = page;
    }
    return pages;
  }

  /** One sequence alone, prefilled in one chunk by one thread with scalar kernels. */
  private static float[][] reference(Model model, KvSpec.Type kvType, int sequence)
      throws InterruptedException {
    String key = model + " " + kvType + " " + sequence;
    float[][] logits = REFERENCES.get(key);
    if (logits == null) {
      int[] tokens = tokens(sequence, model.weights.config().vocabSize(), POSITIONS);
      CpuBackend backend = backend(model, kvType, Code.SCALAR, 1);
      logits = Sequences.logits(backend, tokens, POSITIONS, Sequences.pages(POSITIONS));
      REFERENCES.put(key, logits);
    }
    return logits;
  }

  private static int[] tokens(int sequence, int vocabSize, int count) {
    return Sequences.randomTokens(count, vocabSize, 100 + sequence);
  }

  private static CpuBackend backend(Model model, KvSpec.Type kvType, Code code, int threads) {
    return BACKENDS.computeIfAbsent(
        model + " " + kvType + " " + code + " " + threads,
        key -> {
          DeviceOptions options = new DeviceOptions("cpu", threads, kvType);
          CpuBackend backend =
              CpuBackend.open(model.weights, options, code.kernels(), code.products());
          openPool(backend, code != Code.SCALAR && backend.partedWindow() > 0);
          return backend;
        });
  }

  /** Opens a pool, with window parts that lie in another order than the pages, or without. */
  private static void openPool(CpuBackend backend, boolean withParts) {
    KvPool pool = backend.openPool(PAGES, withParts ? PAGES : 0, CpuKvPool.PAGE_TOKENS);
    for (int page = 0; page < pool.parts(); page++) {
      pool.mapWindow(page, PAGES - 1 - page);
    }
  }

  private static final class Sequence {
    final int number;
    final int[] tokens;
    final int[] pages;
    int done;
    int stepRows;
    int firstOutput;
    float[][] logits;

    Sequence(int number, int vocabSize, int count, int[] freePages) {
      this.number = number;
      tokens = tokens(number, vocabSize, count);
      int needed = (POSITIONS + CpuKvPool.PAGE_TOKENS - 1) / CpuKvPool.PAGE_TOKENS;
      pages = Arrays.copyOfRange(freePages, number * needed, (number + 1) * needed);
    }

    private static int[] tokens(int sequence, int vocabSize, int count) {
      return BitIdentityProperties.tokens(sequence, vocabSize, count);
    }
  }
}
