package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.TestModels;
import io.radixflow.models.file.ModelFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A real model, from its quantised file to its logits, on the GPU and on the CPU. */
@Tag("model")
class RealModelOnGpuTest {

  /** The template's words around "What is the capital of France?", and the reply's first ones. */
  private static final int[] TOKENS = {
    1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198, 504, 3575, 282
  };

  /** The largest error, in standard deviations of a row. */
  private static final double LIMIT = 0.06;

  @Test
  void everyTokensLogitsAreTheCpusWithinTheErrorOfBf16() throws Exception {
    EmulatedGpu.require();
    try (ModelFile file = ModelFile.open(TestModels.smolLm2())) {
      float[][] expected;
      try (Backend cpu = CpuBackend.open(file, new DeviceOptions("cpu", 0, KvSpec.Type.F32))) {
        expected = logits(cpu);
      }
      float[][] actual;
      try (Backend gpu = CudaBackend.open(file, new DeviceOptions("cuda", 0, null), 0)) {
        actual = logits(gpu);
      }
      for (int i = 0; i < TOKENS.length; i++) {
        assertClose(actual[i], expected[i], i);
      }
    }
  }

  private static float[][] logits(Backend backend) throws InterruptedException {
    try (KvPool pool = backend.openPool(4, 16)) {
      assertThat(pool.pages()).isEqualTo(4);
      return Sequences.logits(backend, TOKENS, TOKENS.length, new int[] {2, 1});
    }
  }

  /** Compares rows without their means, which probabilities do not depend on. */
  private static void assertClose(float[] actual, float[] expected, int position) {
    double shift = mean(actual) - mean(expected);
    double mean = mean(expected);
    double error = 0;
    double squares = 0;
    for (int id = 0; id < expected.length; id++) {
      error += Math.pow(actual[id] - shift - expected[id], 2);
      squares += Math.pow(expected[id] - mean, 2);
    }
    assertThat(Math.sqrt(error / squares)).as("position %d", position).isLessThan(LIMIT);
  }

  private static double mean(float[] row) {
    double sum = 0;
    for (float value : row) {
      sum += value;
    }
    return sum / row.length;
  }
}
