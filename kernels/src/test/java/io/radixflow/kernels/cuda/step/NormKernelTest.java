package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelTest;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NormKernelTest extends KernelTest {

  private static final float EPSILON = 1e-5f;

  @ParameterizedTest
  @CsvSource({
    "1, 8, 32, false",
    "5, 64, 128, false",
    "33, 72, 32, true",
    "3, 576, 128, false",
    "2, 1024, 1024, true",
    "7, 4104, 128, true",
    "2, 8192, 128, false",
    "1, 8192, 512, true"
  })
  void rowsAreNormalised(int rows, int width, int threads, boolean centred) {
    Random random = new Random(width);
    short[] hidden = Bf16.random((rows + 1) * width, 3, random);
    float[] gain = gains(width, random);
    DeviceMemory out = allocate((long) (rows + 1) * width * Short.BYTES);

    module
        .launch("rf_norm")
        .pointer(device(hidden))
        .pointer(device(gain))
        .pointer(out)
        .pointer(device(rows))
        .integer(width)
        .integer(width)
        .real(EPSILON)
        .integer(centred ? 1 : 0)
        .grid(rows + 1)
        .block(threads)
        .shared(threads / 32 * Float.BYTES)
        .on(stream);

    check(shorts(out, rows * width), hidden, gain, rows, width, centred);
  }

  @Test
  void aPartOfEachRowIsNormalisedInPlaceAndTheRestIsKept() {
    int width = 48;
    int stride = 112;
    short[] rows = Bf16.random(3 * stride, 2, new Random(1));
    float[] gain = gains(width, new Random(2));
    DeviceMemory memory = device(rows);
    module
        .launch("rf_norm")
        .pointer(memory, 2 * 16)
        .pointer(device(gain))
        .pointer(memory, 2 * 16)
        .pointer(device(3))
        .integer(width)
        .integer(stride)
        .real(EPSILON)
        .integer(0)
        .grid(3)
        .block(128)
        .shared(16)
        .on(stream);

    short[] got = shorts(memory, rows.length);
    short[] before = new short[3 * width];
    short[] after = new short[3 * width];
    for (int row = 0; row < 3; row++) {
      System.arraycopy(rows, row * stride + 16, before, row * width, width);
      System.arraycopy(got, row * stride + 16, after, row * width, width);
    }
    check(after, before, gain, 3, width, false);
    for (int i = 0; i < rows.length; i++) {
      if (i % stride < 16 || i % stride >= 16 + width) {
        assertThat(got[i]).as("element %d", i).isEqualTo(rows[i]);
      }
    }
  }

  @Test
  void aBlocksOutputIsScaledAndAddedToTheRowsThatAreValid() {
    short[] hidden = Bf16.random(3 * 264, 2, new Random(1));
    short[] delta = Bf16.random(3 * 264, 2, new Random(2));
    DeviceMemory memory = device(hidden);
    module
        .launch("rf_add")
        .pointer(memory)
        .pointer(device(delta))
        .pointer(device(2))
        .integer(264)
        .real(0.22f)
        .grid(1)
        .block(128)
        .on(stream);

    short[] got = shorts(memory, hidden.length);
    for (int i = 0; i < hidden.length; i++) {
      double sum = Bf16.toFloat(hidden[i]) + 0.22f * (double) Bf16.toFloat(delta[i]);
      assertThat(got[i]).as("element %d", i).isEqualTo(i < 528 ? Bf16.of(sum) : hidden[i]);
    }
  }

  private static void check(
      short[] got, short[] hidden, float[] gain, int rows, int width, boolean centred) {
    double[] exact = new double[rows * width];
    float[] plain = new float[rows * width];
    for (int row = 0; row < rows; row++) {
      float[] x = Bf16.toFloats(Arrays.copyOfRange(hidden, row * width, (row + 1) * width));
      double mean = 0;
      for (int i = 0; centred && i < width; i++) {
        mean += (double) x[i] / width;
      }
      for (int i = 0; i < width; i++) {
        x[i] -= (float) mean;
      }
      double squares = 0;
      float plainSquares = 0;
      for (float v : x) {
        squares += (double) v * v;
        plainSquares += v * v;
      }
      double scale = 1 / Math.sqrt(squares / width + EPSILON);
      float plainScale = (float) (1 / Math.sqrt(plainSquares / width + EPSILON));
      for (int i = 0; i < width; i++) {
        exact[row * width + i] = x[i] * scale * gain[i];
        float normed = Bf16.round(x[i] * plainScale);
        plain[row * width + i] = Bf16.round(normed * Bf16.round(gain[i]));
      }
    }
    new Closeness(exact, plain).check(Bf16.toFloats(got), rows + " rows of " + width);
  }
}
