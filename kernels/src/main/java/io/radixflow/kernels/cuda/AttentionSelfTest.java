package io.radixflow.kernels.cuda;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.cuda.step.AttentionPlans;
import io.radixflow.kernels.cuda.step.AttentionShape;
import io.radixflow.kernels.cuda.step.CudaModel;
import io.radixflow.kernels.cuda.step.ProgramRecorder;
import io.radixflow.kernels.cuda.step.StepBuffers;
import io.radixflow.kernels.cuda.step.StepPlan;
import io.radixflow.kernels.cuda.step.StepProgram;
import io.radixflow.kernels.cuda.weights.BFloat16;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.Rope;
import io.radixflow.models.StepBuffer;
import java.nio.IntBuffer;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import jcuda.Pointer;

/**
 * Rotates, stores and attends over the rows of two short sequences, with each attention kernel, and
 * compares the results with a computation in doubles. One thread uses it once.
 */
final class AttentionSelfTest {

  private static final int PAGE_TOKENS = 16;
  private static final int HEADS = 2;
  private static final int MAX_ROWS = 32;

  /**
   * Rows of the two sequences. The short sequence uses the kernel whose warps split the keys. The
   * 20 rows of the other sequence are too many for that kernel.
   */
  private static final int[] ROWS = {20, 3};

  private static final Map<KvSpec.Type, Double> TOLERANCES =
      Map.of(KvSpec.Type.BF16, 0.02, KvSpec.Type.FP8, 0.08);

  private final CudaContext context;
  private final KernelModule module;
  private final CudaStream stream;
  private final SplittableRandom random = new SplittableRandom(20260102);

  AttentionSelfTest(CudaContext context, KernelModule module, CudaStream stream) {
    this.context = context;
    this.module = module;
    this.stream = stream;
  }

  /** Returns the first error, or null if the test passes. */
  String run() {
    for (int headSize : AttentionShape.HEAD_DIMS) {
      ModelConfig config = config(headSize);
      for (KvSpec.Type type : TOLERANCES.keySet()) {
        AttentionShape shape = AttentionShape.of(config.layer(0).attention(), type, PAGE_TOKENS);
        String wrong = shape.runsOn(context.device()) ? run(config, type) : null;
        if (wrong != null) {
          return wrong;
        }
      }
    }
    return null;
  }

  private static ModelConfig config(int headSize) {
    return ModelConfig.uniform(
        "llama",
        "self-test",
        64,
        64,
        1,
        64,
        64,
        HEADS,
        1,
        headSize,
        1e-5f,
        new Rope(10_000, false, null),
        false,
        false,
        true);
  }

  private String run(ModelConfig config, KvSpec.Type type) {
    StepBuffers buffers = new StepBuffers(context, config, MAX_ROWS);
    int width = StepBuffer.QKV.width(config);
    float[] rows = new float[(ROWS[0] + ROWS[1]) * width];
    write(buffers.activation(StepBuffer.QKV), rows);
    float[] rotations = rotations(config);
    buffers.rotations().turns(0).write(Pointer.to(rotations), 4L * rotations.length);
    buffers.clearArrived(stream);
    try (CudaKvPool pool = new CudaKvPool(context, config, type, 3, 0, PAGE_TOKENS, () -> true)) {
      StepProgram.Key key = plan(config, buffers, pool);
      int blocks = CudaModel.attentionBlocks(context.device());
      ProgramRecorder recorder =
          new ProgramRecorder(config, module, buffers, pool, null, blocks, key);
      recorder.ropeAndStore(0, null, null);
      recorder.attend(0, null);
      recorder.program().run(stream);
      stream.synchronize();
    }
    short[] attended = new short[(ROWS[0] + ROWS[1]) * HEADS * config.headDim()];
    buffers.activation(StepBuffer.ATTENDED).read(Pointer.to(attended), 2L * attended.length);
    double most = TOLERANCES.get(type);
    String wrong = compare(config, most, rows, rotations, attended, 0, ROWS[0]);
    if (wrong == null) {
      wrong = compare(config, most, rows, rotations, attended, ROWS[0], ROWS[1]);
    }
    return wrong == null ? null : wrong + " with KV " + type.name().toLowerCase(Locale.ROOT);
  }

  /** Writes random bf16 numbers and keeps their values. */
  private void write(DeviceMemory memory, float[] values) {
    short[] bits = new short[values.length];
    for (int i = 0; i < bits.length; i++) {
      bits[i] = BFloat16.fromFloat((float) (2 * random.nextDouble() - 1));
      values[i] = BFloat16.toFloat(bits[i]);
    }
    memory.write(Pointer.to(bits), 2L * bits.length);
  }

  private static float[] rotations(ModelConfig config) {
    int size = config.headDim();
    double[] frequencies = config.rope().frequencies(size);
    float[] table = new float[MAX_ROWS * size];
    for (int position = 0; position < MAX_ROWS; position++) {
      for (int pair = 0; pair < size / 2; pair++) {
        double angle = position * frequencies[pair];
        table[position * size + pair] = (float) StrictMath.cos(angle);
        table[position * size + size / 2 + pair] = (float) StrictMath.sin(angle);
      }
    }
    return table;
  }

  private StepProgram.Key plan(ModelConfig config, StepBuffers buffers, CudaKvPool pool) {
    Batch batch = new Batch();
    int[][] pages = {{1, 0}, {2}};
    for (int sequence = 0; sequence < ROWS.length; sequence++) {
      batch.beginChunk(pages[sequence], pages[sequence].length, 0);
      for (int row = 0; row < ROWS[sequence]; row++) {
        batch.token(0);
      }
    }
    AttentionPlans attention =
        new AttentionPlans(context.device(), config, buffers, pool, GpuMode.DETERMINISTIC);
    StepPlan plan = new StepPlan(buffers.layout(), config.vocabSize(), config.contextLength());
    int[] ints = new int[buffers.layout().ints()];
    plan.take(IntBuffer.wrap(ints), batch, 3, PAGE_TOKENS, (ticket, output) -> -1, 0);
    attention.plan(plan);
    buffers.step().write(Pointer.to(ints), 4L * plan.ints());
    return attention.key(plan.rows());
  }

  private static String compare(
      ModelConfig config,
      double most,
      float[] rows,
      float[] rotations,
      short[] attended,
      int from,
      int count) {
    int size = config.headDim();
    int width = StepBuffer.QKV.width(config);
    double[][] keys = new double[count][];
    for (int row = 0; row < count; row++) {
      keys[row] = rotated(rows, (from + row) * width + HEADS * size, rotations, row, size);
    }
    for (int row = 0; row < count; row++) {
      for (int head = 0; head < HEADS; head++) {
        double[] query = rotated(rows, (from + row) * width + head * size, rotations, row, size);
        double[] weights = softmax(query, keys, row + 1);
        for (int i = 0; i < size; i++) {
          double sum = 0;
          for (int key = 0; key <= row; key++) {
            sum += weights[key] * rows[(from + key) * width + (HEADS + 1) * size + i];
          }
          float got = BFloat16.toFloat(attended[((from + row) * HEADS + head) * size + i]);
          if (!(Math.abs(sum - got) < most)) {
            return String.format(
                "attention with heads of %s elements gave %s instead of %s", size, got, sum);
          }
        }
      }
    }
    return null;
  }

  private static double[] rotated(float[] rows, int at, float[] rotations, int position, int size) {
    double[] head = new double[size];
    int half = size / 2;
    for (int pair = 0; pair < half; pair++) {
      double cosine = rotations[position * size + pair];
      double sine = rotations[position * size + half + pair];
      head[pair] = rows[at + pair] * cosine - rows[at + half + pair] * sine;
      head[half + pair] = rows[at + half + pair] * cosine + rows[at + pair] * sine;
    }
    return head;
  }

  private static double[] softmax(double[] query, double[][] keys, int count) {
    double[] weights = new double[count];
    double sum = 0;
    for (int key = 0; key < count; key++) {
      double score = 0;
      for (int i = 0; i < query.length; i++) {
        score += query[i] * keys[key][i];
      }
      weights[key] = Math.exp(score / Math.sqrt(query.length));
      sum += weights[key];
    }
    for (int key = 0; key < count; key++) {
      weights[key] /= sum;
    }
    return weights;
  }
}
