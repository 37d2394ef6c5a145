package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelTest;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NormKernelTest extends KernelTest {

  private static final float EPSILON = 1e-5f;

  @ParameterizedTest
  @CsvSource({
    "1, 8, 32",
    "5, 64, 128",
    "33, 72, 32",
    "3, 576, 128",
    "2, 1024, 1024",
    "7, 4104, 128",
    "2, 8192, 128",
    "1, 8192, 512"
  })
  void rowsAreNormalised(int rows, int width, int threads) {
    Random random = new Random(width);
    short[] hidden = Bf16.random((rows + 1) * width, 3, random);
    float[] gain = gains(width, random);
    DeviceMemory out = allocate((long) (rows + 1) * width * Short.BYTES);

    module
        .launch("rf_rms_norm")
        .pointer(device(hidden))
        .pointer(device(gain))
        .pointer(out)
        .pointer(device(rows))
        .integer(width)
        .real(EPSILON)
        .grid(rows + 1)
        .block(threads)
        .shared(threads / 32 * Float.BYTES)
        .on(stream);

    check(shorts(out, rows * width), hidden, gain, rows, width);
  }

  private static void check(short[] got, short[] hidden, float[] gain, int rows, int width) {
    double[] exact = new double[rows * width];
    float[] plain = new float[rows * width];
    for (int row = 0; row < rows; row++) {
      float[] x = Bf16.toFloats(Arrays.copyOfRange(hidden, row * width, (row + 1) * width));
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
