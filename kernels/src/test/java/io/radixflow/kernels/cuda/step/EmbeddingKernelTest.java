package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelTest;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EmbeddingKernelTest extends KernelTest {

  @ParameterizedTest
  @CsvSource({"1, 8, 3, 1", "5, 576, 40, 1", "33, 72, 7, 0.3", "130, 2056, 19, 12"})
  void rowsOfTheTableComeInTheOrderOfTheTokens(int rows, int width, int vocab, float scale) {
    Random random = new Random(rows);
    short[] table = Bf16.random(vocab * width, 1, random);
    int[] sampled = random.ints(8, 0, vocab).toArray();
    int[] tokens = random.ints(rows + 3, -8, vocab).toArray();
    DeviceMemory out = allocate((long) (rows + 3) * width * Short.BYTES);

    module
        .launch("rf_embed")
        .pointer(device(table))
        .pointer(device(rows))
        .pointer(device(tokens))
        .pointer(device(sampled))
        .pointer(out)
        .integer(width)
        .integer(vocab)
        .real(scale)
        .grid((rows + 3 + 3) / 4)
        .block(128)
        .on(stream);

    short[] got = shorts(out, (rows + 3) * width);
    short[] scaled = new short[table.length];
    for (int i = 0; i < table.length; i++) {
      scaled[i] = Bf16.of(Bf16.toFloat(table[i]) * scale);
    }
    for (int row = 0; row < rows; row++) {
      int token = tokens[row] < 0 ? sampled[-1 - tokens[row]] : tokens[row];
      assertThat(Arrays.copyOfRange(got, row * width, (row + 1) * width))
          .as("row %d", row)
          .isEqualTo(Arrays.copyOfRange(scaled, token * width, (token + 1) * width));
    }
    if (order != Order.DEVICE) {
      for (int i = rows * width; i < got.length; i++) {
        assertThat(got[i]).as("padding").isEqualTo((short) -1);
      }
    }
  }
}
