package io.radixflow.models.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.models.tensor.StoredPart.Place;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class Mxfp4TensorTest {

  /** The values of the sixteen codes. */
  private static final float[] VALUES = {
    0f, 0.5f, 1f, 1.5f, 2f, 3f, 4f, 6f, -0f, -0.5f, -1f, -1.5f, -2f, -3f, -4f, -6f
  };

  @Test
  void codesOfNeighboursShareAByteAndRowsOfGateAndUpTakeTurns() {
    int storedRows = 4;
    ByteBuffer codes = ByteBuffer.allocate(storedRows * 2 * 16);
    ByteBuffer exponents = ByteBuffer.allocate(storedRows * 2);
    for (int i = 0; i < codes.capacity(); i++) {
      codes.put(i, (byte) (i * 37 + 11));
    }
    for (int i = 0; i < exponents.capacity(); i++) {
      exponents.put(i, (byte) (124 + i));
    }
    StoredPart part = new StoredPart("x", new long[0], 2, 64, new Place(1, 2, 0), 0);
    Mxfp4Tensor up = new Mxfp4Tensor("up", "up", part, () -> codes, () -> exponents);
    float[] values = new float[64];
    for (int row = 0; row < 2; row++) {
      up.dequantize(row, values, 0);
      int stored = 1 + 2 * row;
      for (int column = 0; column < 64; column++) {
        int pair = codes.get((stored * 64 + column) / 2) >> 4 * (column % 2) & 15;
        double scale = Math.pow(2, (exponents.get(stored * 2 + column / 32) & 255) - 127);
        assertThat((double) values[column]).isEqualTo(VALUES[pair] * scale);
      }
    }
  }
}
