package io.radixflow.kernels.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class Float8Test {

  @Test
  void everyCodeHasTheValueOfItsBits() {
    for (int code = 0; code < 256; code++) {
      int exponent = code >> 3 & 15;
      int mantissa = code & 7;
      double magnitude =
          exponent == 0
              ? mantissa / 8.0 * Math.pow(2, -6)
              : (1 + mantissa / 8.0) * Math.pow(2, exponent - 7);
      double expected = code < 128 ? magnitude : -magnitude;
      boolean number = (code & 127) != 127;
      assertThat(Float8.isNaN((byte) code)).isEqualTo(!number);
      if (number) {
        assertThat((double) Float8.toFloat((byte) code)).isEqualTo(expected);
      } else {
        assertThat(Float8.toFloat((byte) code)).isNaN();
      }
    }
    assertThat(Float8.toFloat((byte) 0x7e)).isEqualTo(448f);
  }
}
