package io.radixflow.models.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.radixflow.models.Float16;
import io.radixflow.models.TensorType;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DequantizerTest {

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"F32", "INT4", "INT8", "FP8"})
  void randomBlocksEqualThoseOfTheGgufPackage(TensorType type) throws IOException {
    ByteBuffer blocks = resource(type + ".blocks");
    float[] expected = new float[resource(type + ".floats").asFloatBuffer().remaining()];
    resource(type + ".floats").asFloatBuffer().get(expected);
    float[] found = new float[expected.length];
    Dequantizer.dequantize(type, blocks, 0, found.length, found, 0);
    for (int i = 0; i < found.length; i++) {
      assertThat(found[i]).as("weight %d", i).isEqualTo(expected[i]);
    }
    assertThat(blocks.position()).isZero();
  }

  @Test
  void everyFiniteHalfHasItsExactValue() {
    for (int bits = 0; bits < 1 << 16; bits++) {
      int exponent = bits >> 10 & 31;
      float value = Float16.toFloat((short) bits);
      if (exponent == 31) {
        assertThat(Float.isFinite(value)).isFalse();
        continue;
      }
      double significand = exponent == 0 ? bits & 1023 : 1024 + (bits & 1023);
      double expected = significand * Math.pow(2, Math.max(exponent, 1) - 25);
      assertThat((double) Math.abs(value)).isEqualTo(expected);
      assertThat(Math.copySign(1, value)).isEqualTo(bits < 1 << 15 ? 1 : -1);
    }
  }

  @Test
  void aDequantisedWeightIsRoundedOnce() throws IOException {
    ByteBuffer blocks = resource("Q4_1.blocks");
    float[] found = new float[32];
    for (int block = 0; block < blocks.capacity() / 20; block++) {
      Dequantizer.dequantize(TensorType.Q4_1, blocks, block * 20, 32, found, 0);
      BigDecimal d = new BigDecimal(Float16.toFloat(blocks.getShort(block * 20)));
      BigDecimal m = new BigDecimal(Float16.toFloat(blocks.getShort(block * 20 + 2)));
      int q = blocks.get(block * 20 + 4) & 15;
      float exact = d.multiply(BigDecimal.valueOf(q)).add(m).floatValue();
      assertThat((double) found[0]).isEqualTo(exact, within(0.0));
    }
  }

  private static ByteBuffer resource(String name) throws IOException {
    try (InputStream in = DequantizerTest.class.getResourceAsStream("/quants/" + name)) {
      return ByteBuffer.wrap(in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
    }
  }
}
