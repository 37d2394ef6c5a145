package io.radixflow.kernels.cuda;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaDevice;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.CudaUnavailableException;
import io.radixflow.kernels.cuda.driver.DeviceCode;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.gemm.GemmEpilogue;
import io.radixflow.kernels.cuda.gemm.GemmKernel;
import io.radixflow.kernels.cuda.gemm.GemmLaunch;
import io.radixflow.kernels.cuda.gemm.GemmPlan;
import io.radixflow.kernels.cuda.step.SamplingKernel;
import io.radixflow.kernels.cuda.step.StepLayout;
import io.radixflow.kernels.cuda.step.StepPlan;
import io.radixflow.kernels.cuda.step.StepResults;
import io.radixflow.kernels.cuda.weights.BFloat16;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.OutOfDeviceMemoryException;
import io.radixflow.kernels.sampling.Sampler;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import java.nio.IntBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import jcuda.Pointer;

/**
 * Tests a device in about a second. It loads the kernels, multiplies a matrix with each product
 * kernel, attends over short sequences and draws tokens, and compares the results with results in
 * doubles. Then it runs a small model and compares the logits with the CPU's logits.
 */
public final class CudaSelfTest {

  private static final int VOCAB = 5000;
  private static final int ROWS = 8;
  private static final int FEATURES = 64;
  private static final int DEPTH = 256;
  private static final long SEED = 20260101;

  private final CudaContext context;
  private final CudaStream stream;
  private final KernelModule module;
  private final SplittableRandom random = new SplittableRandom(SEED);

  private CudaSelfTest(CudaContext context) {
    this.context = context;
    stream = context.newStream("self-test");
    module = context.load(DeviceCode.load());
  }

  /**
   * Runs the test.
   *
   * @return the first error, or null if the test passes
   */
  public static String run(int ordinal) {
    try (CudaContext context = CudaContext.open(ordinal)) {
      CudaSelfTest test = new CudaSelfTest(context);
      String wrong = test.products();
      if (wrong == null) {
        wrong = new AttentionSelfTest(context, test.module, test.stream).run();
      }
      if (wrong == null) {
        wrong = test.draws();
      }
      return wrong == null ? ModelSelfTest.run(ordinal) : wrong;
    } catch (CudaException | CudaUnavailableException | OutOfDeviceMemoryException e) {
      return e.getMessage();
    }
  }

  /**
   * Tests every product kernel that the device supports. The kernels of deterministic mode must
   * give the same bits.
   */
  private String products() {
    short[] weights = bf16(FEATURES * DEPTH);
    short[] rows = bf16(ROWS * DEPTH);
    CudaDevice device = context.device();
    int shared = device.sharedMemory();
    GemmPlan plan =
        new GemmPlan(GpuMode.FAST, device.multiprocessors(), device.hopper(), shared, shared);
    CudaMatrix matrix = CudaMatrix.ofBf16(upload(weights), FEATURES, DEPTH);
    DeviceMemory source = upload(rows);
    DeviceMemory count = upload(new int[] {ROWS});
    double[] expected = expected(weights, rows);
    float[] deterministic = null;
    for (GemmKernel kernel : GemmKernel.values()) {
      if (kernel.format() != WeightFormat.BF16 || !plan.allowed(kernel)) {
        continue;
      }
      float[] sums = product(kernel, matrix, source, count);
      for (int i = 0; i < sums.length; i++) {
        if (!(Math.abs(expected[i] - sums[i]) < 1e-3)) {
          return "a product by " + kernel + " is " + sums[i] + " instead of " + expected[i];
        }
      }
      if (kernel.deterministic()) {
        if (deterministic != null && !Arrays.equals(deterministic, sums)) {
          return "products by " + kernel + " have other bits than products by other kernels";
        }
        deterministic = sums;
      }
    }
    return null;
  }

  private float[] product(
      GemmKernel kernel, CudaMatrix matrix, DeviceMemory source, DeviceMemory count) {
    DeviceMemory result = context.allocate(4L * ROWS * FEATURES, "the self-test");
    KernelLaunch launch = GemmLaunch.begin(module, kernel, matrix, source, result, 0, null, ROWS);
    launch.pointer(count).nullPointer();
    GemmLaunch.finish(launch, matrix, GemmEpilogue.LOGITS).on(stream);
    stream.synchronize();
    float[] sums = new float[ROWS * FEATURES];
    result.read(Pointer.to(sums), result.bytes());
    return sums;
  }

  private static double[] expected(short[] weights, short[] rows) {
    double[] sums = new double[ROWS * FEATURES];
    for (int i = 0; i < sums.length; i++) {
      for (int k = 0; k < DEPTH; k++) {
        sums[i] +=
            (double) BFloat16.toFloat(weights[i % FEATURES * DEPTH + k])
                * BFloat16.toFloat(rows[i / FEATURES * DEPTH + k]);
      }
    }
    return sums;
  }

  private String draws() {
    StepLayout layout = new StepLayout(ROWS, 1, 1, 4 * VOCAB);
    IntBuffer ints = IntBuffer.allocate(layout.ints());
    float[] logits = new float[ROWS * VOCAB];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = (float) (random.nextDouble() * 12);
    }
    SamplingParams params = new SamplingParams(0.8f, 200, 0.9f, 0.01f, 1, 0, 0, Map.of(), SEED, -1);
    Batch batch = new Batch();
    for (int row = 0; row < ROWS; row++) {
      batch.beginChunk(new int[] {0}, 1, 0);
      batch.token(0);
      batch.output(state(params.withSeed(row)), Batch.TOKEN);
    }
    new StepPlan(layout, VOCAB, 1).take(ints, batch, 1, 16, (ticket, output) -> -1, 0);
    DeviceMemory ring = context.allocate(4L * ROWS, "the self-test");
    DeviceMemory step = upload(ints.array());
    StepResults results = StepResults.allocate(context, ROWS);
    DeviceMemory onDevice = context.allocate(4L * logits.length, "the self-test");
    onDevice.write(Pointer.to(logits), onDevice.bytes());
    new SamplingKernel(context, module, layout, step, onDevice, ring, results, VOCAB, ROWS)
        .sample(0, ROWS, stream);
    stream.synchronize();
    int[] tokens = new int[ROWS];
    ring.read(Pointer.to(tokens), ring.bytes());
    Sampler sampler = new Sampler(VOCAB);
    for (int row = 0; row < ROWS; row++) {
      int expected = sampler.sample(logits, row * VOCAB, VOCAB, state(params.withSeed(row)));
      if (tokens[row] != expected) {
        return "token " + tokens[row] + " was drawn instead of " + expected;
      }
    }
    return null;
  }

  private static SamplingState state(SamplingParams params) {
    return new SamplingState(params, new int[0], new int[0], VOCAB);
  }

  private short[] bf16(int count) {
    short[] values = new short[count];
    for (int i = 0; i < count; i++) {
      values[i] = BFloat16.fromFloat((float) (random.nextDouble() - 0.5));
    }
    return values;
  }

  private DeviceMemory upload(short[] values) {
    DeviceMemory memory = context.allocate(2L * values.length, "the self-test");
    memory.write(Pointer.to(values), memory.bytes());
    return memory;
  }

  private DeviceMemory upload(int[] values) {
    DeviceMemory memory = context.allocate(4L * values.length, "the self-test");
    memory.write(Pointer.to(values), memory.bytes());
    return memory;
  }
}
