package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cpu.Shapes;
import io.radixflow.kernels.cuda.driver.NeedsDevice;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.models.ModelConfig;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;

/**
 * Random batches in deterministic mode: what a row gets depends on its prefix alone, bit for bit.
 * Few tries, as an emulated device is slow; the seed of a failure is in its report.
 */
@AddLifecycleHook(NeedsDevice.class)
class DeterministicModeProperties {

  private static final int PAGES = 64;

  private static final List<ModelConfig> MODELS =
      List.of(
          CudaModels.llama(),
          CudaModels.qwen3(),
          CudaModels.windowed(),
          CudaModels.sinks(),
          Shapes.sinks(),
          CudaModels.parallel(),
          CudaModels.multiplied());

  @Property(tries = 8, shrinking = ShrinkingMode.OFF)
  void logitsAndDrawsDependOnTheirPrefixAlone(
      @ForAll @IntRange(min = 2, max = 200) int length,
      @ForAll @IntRange(min = 0, max = 1) int pageSize,
      @ForAll long seed)
      throws InterruptedException {
    Random random = new Random(seed);
    ModelConfig config = MODELS.get(random.nextInt(MODELS.size()));
    int pageTokens = 16 << pageSize;
    KvSpec.Type type = random.nextBoolean() ? KvSpec.Type.BF16 : KvSpec.Type.FP8;
    DeviceOptions options = new DeviceOptions("cuda", 0, type, GpuMode.DETERMINISTIC, 0);
    float[][] logits = new float[length][];
    int[] drawn = new int[length];
    float[][] mixedLogits = new float[length][];
    int[] mixedDrawn = new int[length];
    int[] tokens = random.ints(length, 0, CudaModels.VOCAB).toArray();
    try (CudaBackend backend = CudaBackend.open(CudaModels.weights(config), options, 0)) {
      try (KvPool pool = backend.openPool(PAGES, pageTokens)) {
        Rows alone = new Rows(tokens, Sequences.pages(length), seed);
        run(backend, alone, null, length, logits, drawn);
        assertThat(pool.parts()).isZero();
      }
      int parts = backend.partedWindow() > 0 ? PAGES : 0;
      try (KvPool pool = backend.openPool(PAGES, parts, pageTokens)) {
        int[] mixed = shuffled(PAGES, random);
        for (int page = 0; page < parts; page++) {
          pool.mapWindow(page, parts - 1 - page);
        }
        int half = PAGES / 2;
        Rows rows = new Rows(tokens, IntStream.of(mixed).limit(half).toArray(), seed);
        int[] others = random.ints(half * 16, 0, CudaModels.VOCAB).toArray();
        Rows beside = new Rows(others, IntStream.of(mixed).skip(half).toArray(), ~seed);
        run(backend, rows, beside, 1 + random.nextInt(length), mixedLogits, mixedDrawn);
      }
    }
    assertThat(mixedLogits).isDeepEqualTo(logits);
    assertThat(mixedDrawn).isEqualTo(drawn);
  }

  /** A sequence with its pages; each position is drawn with a seed of its own. */
  private record Rows(int[] tokens, int[] pages, long seed) {

    void add(Batch batch, int from, int count, boolean outputs) {
      batch.beginChunk(pages, pages.length, from);
      for (int position = from; position < from + count; position++) {
        batch.token(tokens[position]);
        if (outputs || position == from) {
          batch.output(state(position), Batch.LOGITS);
        }
      }
    }

    private SamplingState state(int position) {
      SamplingParams params =
          new SamplingParams(
              0.9f, position % 3 * 9, 0.95f, 0, 1, 0, 0, Map.of(), seed + position, -1);
      return new SamplingState(params, new int[0], new int[0], CudaModels.VOCAB);
    }
  }

  /** Computes all rows in random chunks of at most {@code most}, others before or behind them. */
  private static void run(
      CudaBackend backend, Rows rows, Rows beside, int most, float[][] logits, int[] drawn)
      throws InterruptedException {
    Random random = new Random(rows.seed);
    Batch batch = new Batch();
    int besideAt = 0;
    for (int from = 0; from < rows.tokens.length; ) {
      int left = rows.tokens.length - from;
      int count = beside == null ? left : 1 + random.nextInt(Math.min(left, most));
      int others = beside == null ? 0 : random.nextInt(beside.tokens.length - besideAt + 1) / 6;
      boolean before = random.nextBoolean();
      batch.clear();
      if (others > 0 && before) {
        beside.add(batch, besideAt, others, false);
      }
      int first = batch.outputs();
      rows.add(batch, from, count, true);
      if (others > 0 && !before) {
        beside.add(batch, besideAt, others, false);
      }
      StepTicket ticket = Sequences.run(backend, batch);
      for (int i = 0; i < count; i++) {
        logits[from + i] = new float[CudaModels.VOCAB];
        ticket.logits(first + i, logits[from + i]);
        drawn[from + i] = ticket.token(first + i);
      }
      from += count;
      besideAt += others;
    }
  }

  private static int[] shuffled(int count, Random random) {
    int[] ids = IntStream.range(0, count).toArray();
    for (int i = count - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int id = ids[i];
      ids[i] = ids[j];
      ids[j] = id;
    }
    return ids;
  }
}
