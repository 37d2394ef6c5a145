package io.radixflow.kernels.cpu.integer;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.SyntheticTensor;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.NativeIsas;
import io.radixflow.kernels.cpu.kernel.NativeKernels.Isa;
import io.radixflow.kernels.cpu.kernel.RowMemory;
import io.radixflow.kernels.cpu.kernel.ScalarKernels;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Activations become the nearest integers, the same in native code and in Java. */
class IntegerRowsTest {

  private static final int COLUMNS = 64;

  private final SyntheticTensor.Mix random = new SyntheticTensor.Mix(3);
  private final IntegerProducts java = IntegerProducts.of(null, new ScalarKernels(), 4, 1);

  private float[] random(int columns, float size) {
    float[] row = new float[columns];
    for (int k = 0; k < columns; k++) {
      row[k] = (2 * random.unit() - 1) * size;
    }
    return row;
  }

  private static IntegerRows pack(IntegerProducts products, float[]... rows) {
    return pack(products, new IntegerRows(new RowMemory()), rows);
  }

  private static IntegerRows pack(IntegerProducts products, IntegerRows packed, float[]... rows) {
    packed.begin(rows.length, rows[0].length);
    for (int i = 0; i < rows.length; i++) {
      products.pack(Floats.of(rows[i]), 0, packed, i);
    }
    return packed;
  }

  /** Column 4n + j is in pair 2n + j % 2, in its low half if j is below 2. */
  private static int integer(IntegerRows rows, int row, int column) {
    int pair = rows.pairs.bits((row * rows.columns() + column / 4 * 4) / 2 + column % 2);
    return (short) (column % 4 < 2 ? pair : pair >> 16);
  }

  @Test
  void theLargestValueOfABlockBecomesTheLargestInteger() {
    float[] row = random(COLUMNS, 3);
    row[5] = -3.5f;
    row[40] = 7;

    IntegerRows rows = pack(java, row);

    assertThat(rows.scales.get(0)).isEqualTo(3.5f / 32767);
    assertThat(rows.scales.get(1)).isEqualTo(7f / 32767);
    assertThat(integer(rows, 0, 5)).isEqualTo(-32767);
    assertThat(integer(rows, 0, 40)).isEqualTo(32767);
  }

  @Test
  void integersAreTheNearestAndSumsAreTheirs() {
    float[][] values = new float[200][];
    for (int i = 0; i < values.length; i++) {
      values[i] = random(COLUMNS, Math.scalb(1f, random.below(60) - 30));
    }

    IntegerRows rows = pack(java, values);

    for (int i = 0; i < values.length; i++) {
      int sum = 0;
      for (int k = 0; k < COLUMNS; k++) {
        double exact = values[i][k] / (double) rows.scales.get((i * COLUMNS + k) / 32);
        int integer = integer(rows, i, k);
        // Factor and product are rounded to 24 bits, which moves a number of 15 bits by 2^-8 at
        // most.
        assertThat(Math.abs(integer - exact)).isLessThan(0.5 + 0x1p-8);
        assertThat(Math.abs(integer)).isLessThanOrEqualTo(32767);
        sum += integer;
        if (k % 16 == 15) {
          assertThat(rows.sums.get((i * COLUMNS + k) / 16)).isEqualTo(sum);
          sum = 0;
        }
      }
    }
  }

  /** The factor is 1: halves lie between two integers. */
  @Test
  void tiesGoToTheEvenInteger() {
    float[] row = new float[COLUMNS];
    row[0] = 32767;
    float[] halves = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 16382.5f, 16383.5f, -32765.5f};
    int[] even = {0, 2, 2, 0, -2, -2, 16382, 16384, -32766};
    System.arraycopy(halves, 0, row, 1, halves.length);

    IntegerRows rows = pack(java, row);

    for (int i = 0; i < even.length; i++) {
      assertThat(integer(rows, 0, i + 1)).isEqualTo(even[i]);
    }
  }

  @Test
  void blocksBelowTheLeastValueAreZeroAndThoseThatAreNotFiniteHaveNoScale() {
    float[] tiny = random(96, 0x1p-101f);
    float[] least = new float[96];
    least[1] = -0x1p-100f;
    float[] bad = random(96, 1);
    bad[31] = Float.NEGATIVE_INFINITY;
    bad[64] = Float.NaN;

    IntegerRows rows = pack(java, tiny, least, bad);

    assertThat(Arrays.copyOf(rows.scales.toArray(), 9))
        .containsExactly(
            0, 0, 0, 0x1p-100f / 32767, 0, 0, Float.NaN, rows.scales.get(7), Float.NaN);
    assertThat(rows.scales.get(7)).isPositive();
    for (int k = 0; k < 96; k++) {
      assertThat(integer(rows, 0, k)).isZero();
      assertThat(integer(rows, 1, k)).isEqualTo(k == 1 ? -32767 : 0);
      assertThat(integer(rows, 2, k) == 0 || k / 32 == 1).isTrue();
    }
    assertThat(rows.sums.get(12)).isZero();
    assertThat(rows.sums.get(17)).isZero();
  }

  @ParameterizedTest
  @EnumSource(Isa.class)
  void nativeCodeRoundsAsJavaDoes(Isa isa) {
    IntegerProducts fast = IntegerProducts.of(NativeIsas.products(isa), new ScalarKernels(), 4, 1);
    float[][] rows = new float[400][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = hard(i);
    }

    IntegerRows expected = pack(java, rows);
    IntegerRows actual = pack(fast, rows);

    assertThat(bits(actual.pairs)).isEqualTo(bits(expected.pairs));
    assertThat(bits(actual.scales)).isEqualTo(bits(expected.scales));
    assertThat(bits(actual.sums)).isEqualTo(bits(expected.sums));
  }

  /** Random, tiny, huge and infinite values, any bits at all, and ties. */
  private float[] hard(int kind) {
    float[] row = random(COLUMNS, 1);
    for (int k = 0; k < COLUMNS; k++) {
      switch (kind % 7) {
        case 0 -> row[k] = Float.intBitsToFloat(random.next());
        case 1 -> row[k] = Math.scalb(row[k], -98 - kind % 5);
        case 2 -> row[k] *= Float.MAX_VALUE;
        case 3 -> row[k] = k == kind % COLUMNS ? Float.NaN : row[k];
        case 4 -> row[k] = k % 32 == 0 ? 32767 : random.below(65533) / 2f - 16383;
        case 5 -> row[k] = k == kind % COLUMNS ? Float.POSITIVE_INFINITY : Float.MIN_VALUE;
        default -> row[k] = Math.scalb(row[k], -random.below(20));
      }
    }
    return row;
  }

  private static int[] bits(Floats values) {
    int[] bits = new int[values.length()];
    Arrays.setAll(bits, values::bits);
    return bits;
  }

  @Test
  void rowsMayBecomeFewerAndMoreAndNarrowerAndWider() {
    IntegerRows reused = new IntegerRows(new RowMemory());
    int[][] shapes = {{3, 64}, {1, 32}, {9, 64}, {2, 1024}, {70, 96}, {1, 32}, {7, 960}, {8, 960}};
    for (int[] shape : shapes) {
      float[][] rows = new float[shape[0]][];
      Arrays.setAll(rows, i -> random(shape[1], 5));

      pack(java, reused, rows);

      IntegerRows fresh = pack(java, rows);
      int count = shape[0] * shape[1];
      assertThat(reused.columns()).isEqualTo(shape[1]);
      assertThat(Arrays.copyOf(bits(reused.pairs), count / 2))
          .isEqualTo(Arrays.copyOf(bits(fresh.pairs), count / 2));
      assertThat(Arrays.copyOf(bits(reused.scales), count / 32))
          .isEqualTo(Arrays.copyOf(bits(fresh.scales), count / 32));
      assertThat(Arrays.copyOf(bits(reused.sums), count / 16))
          .isEqualTo(Arrays.copyOf(bits(fresh.sums), count / 16));
    }
  }

  @Test
  void roundingOneRowLeavesTheOthersAlone() {
    float[][] rows = {random(COLUMNS, 1), random(COLUMNS, 1), random(COLUMNS, 1)};
    IntegerRows packed = pack(java, rows);
    int[] before = bits(packed.pairs);

    java.pack(Floats.of(random(COLUMNS, 1)), 0, packed, 1);
    int[] after = bits(packed.pairs);

    assertThat(Arrays.copyOf(after, 32)).isEqualTo(Arrays.copyOf(before, 32));
    assertThat(Arrays.copyOfRange(after, 64, before.length))
        .isEqualTo(Arrays.copyOfRange(before, 64, before.length));
    assertThat(Arrays.copyOfRange(after, 32, 64)).isNotEqualTo(Arrays.copyOfRange(before, 32, 64));
  }
}
