package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeIsas;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Integer products give the bits of their formula, in native code and in Java. */
class IntegerProductsTest {

  private final SyntheticTensor.Mix random = new SyntheticTensor.Mix(9);

  static Stream<TensorType> types() {
    return IntegerCase.types().stream();
  }

  private static Tensor tensor(TensorType type, int rows, int columns) {
    return new SyntheticTensor(type + " " + rows, type, rows, columns, 0.7f, 0f, 1);
  }

  private float[] row(int columns, float size) {
    float[] row = new float[columns];
    for (int k = 0; k < columns; k++) {
      row[k] = (2 * random.unit() - 1) * size;
    }
    return row;
  }

  private float[][] rows(int count, int columns) {
    float[][] rows = new float[count][];
    for (int i = 0; i < count; i++) {
      rows[i] = row(columns, 1 << random.below(8));
    }
    return rows;
  }

  /**
   * An activation is off by half a unit of its block, and 2^-8 more since its factor is rounded.
   * The chain of an output, two additions for 16 columns, is off by 2^-24 of partial sums, which
   * are less than four times the largest weight times all activations.
   */
  @ParameterizedTest
  @MethodSource("types")
  void productsAreThoseOfTheWeightsWithinTheRoundingOfActivations(TensorType type) {
    int columns = 256;
    Tensor tensor = tensor(type, 32, columns);
    float[] weights = new float[columns];
    IntegerCase test = new IntegerCase(List.of(tensor), null);
    float[][] rows = rows(8, columns);
    float[][] out = test.check(rows);
    for (int row = 0; row < rows.length; row++) {
      for (int output = 0; output < tensor.rows(); output++) {
        tensor.dequantize(output, weights, 0);
        double exact = 0;
        double rounding = 0;
        double sum = 0;
        double largestWeight = 0;
        for (int k = 0; k < columns; k++) {
          exact += (double) weights[k] * rows[row][k];
          rounding += Math.abs(weights[k]) * largest(rows[row], k / 32 * 32) / 32767;
          sum += Math.abs(rows[row][k]);
          largestWeight = Math.max(largestWeight, Math.abs(weights[k]));
        }
        double chain = 2 * columns / 16 * 0x1p-24 * 4 * largestWeight * sum;
        assertThat(Math.abs(out[row][output] - exact))
            .isLessThan((0.5 + 0x1p-8) * rounding + chain);
      }
    }
  }

  private static double largest(float[] row, int from) {
    double largest = 0;
    for (int k = from; k < from + 32; k++) {
      largest = Math.max(largest, Math.abs(row[k]));
    }
    return largest;
  }

  /** Without them only Java is compared. */
  @Test
  void thisMachineHasNativeKernels() {
    assertThat(NativeIsas.required()).isNotEmpty();
  }

  @ParameterizedTest
  @MethodSource("types")
  void anyNumberOfRowsGivesTheFormulasBits(TensorType type) {
    int columns = Math.max(96, type.blockElements());
    IntegerCase test = new IntegerCase(List.of(tensor(type, 45, columns)), null);
    for (int count = 1; count <= 20; count++) {
      test.check(rows(count, columns));
    }
    test.check(rows(70, columns));
  }

  @ParameterizedTest
  @MethodSource("types")
  void anyWidthGivesTheFormulasBits(TensorType type) {
    List<Integer> widths =
        type.blockElements() == 256 ? List.of(256, 768, 2048) : List.of(32, 96, 768, 2080);
    for (int columns : widths) {
      List<Tensor> tensors = List.of(tensor(type, 33, columns));
      IntegerCase test = new IntegerCase(tensors, row(64, 3));
      for (int count : new int[] {1, 3, 8, 13, 70}) {
        test.check(rows(count, columns));
      }
    }
  }

  /** Native code then takes fewer rows at a time than a tile has. */
  @Test
  void rowsWiderThanACacheGiveTheFormulasBits() {
    List<Tensor> tensors = List.of(tensor(TensorType.Q4_0, 32, 20480));
    IntegerCase test = new IntegerCase(tensors, null);
    test.check(rows(19, 20480));
  }

  @ParameterizedTest
  @MethodSource("types")
  void stackedEncodingsGiveTheFormulasBitsWhateverPanelsAreAskedFor(TensorType type) {
    for (TensorType other : IntegerCase.types()) {
      int columns = Math.max(32, Math.max(type.blockElements(), other.blockElements()));
      List<Tensor> tensors =
          List.of(tensor(type, 64, columns), tensor(other, 96, columns), tensor(type, 7, columns));
      for (float[] bias : new float[][] {null, row(192, 2)}) {
        IntegerCase test = new IntegerCase(tensors, bias);
        float[][] rows = rows(3, columns);
        for (int first = 0; first < 6; first++) {
          test.check(rows, new int[] {0, 1, 2}, 0, 3, first, first + 1, 0);
        }
        test.check(rows, new int[] {0, 1, 2}, 0, 3, 1, 5, 32);
        test.check(rows, new int[] {0, 1, 2}, 0, 3, 0, 6, 1);
      }
    }
  }

  @Test
  void allEncodingsMayBeInOneMatrix() {
    List<Tensor> tensors = new ArrayList<>();
    for (TensorType type : IntegerCase.types()) {
      tensors.add(tensor(type, Kernels.PANEL, 768));
    }
    IntegerCase test = new IntegerCase(tensors, row(tensors.size() * Kernels.PANEL, 1));
    test.check(rows(9, 768));
  }

  @ParameterizedTest
  @MethodSource("types")
  void rowsAreThoseThatNumbersName(TensorType type) {
    int columns = type.blockElements() * 2;
    float[][] rows = rows(12, columns);
    int[] numbers = {-1, -1, 11, 0, 3, 3, 7, 2, 9, 1, 0, 11, 5, -1};
    IntegerCase test = new IntegerCase(List.of(tensor(type, 64, columns)), null);
    for (int count = 1; count <= 11; count++) {
      test.check(rows, numbers, 2, count, 0, 2, 40);
    }
    test.check(rows, numbers, 6, 1, 1, 2, 0);
    test.check(rows, numbers, 7, 1, 1, 2, 0);
  }

  @ParameterizedTest
  @MethodSource("types")
  void zerosTinyAndHugeValuesGiveTheFormulasBits(TensorType type) {
    int columns = 256;
    float[][] rows = rows(11, columns);
    rows[0] = new float[columns];
    Arrays.fill(rows[1], -0f);
    rows[2] = row(columns, 0x1p-130f);
    rows[3] = row(columns, 0x1p-100f);
    rows[3][5] = 0x1p-100f;
    rows[4] = row(columns, 0x1p-98f);
    rows[5] = row(columns, 3e38f);
    rows[6] = row(columns, 3e38f);
    rows[6][7] = Float.MAX_VALUE;
    rows[7][40] = Float.MIN_VALUE;
    rows[8][40] = 3e38f;
    Arrays.fill(rows[9], 64, 96, 0f);
    rows[10] = row(columns, 0x1p-101f);
    rows[10][3] = Math.nextDown(0x1p-100f);
    IntegerCase test = new IntegerCase(List.of(tensor(type, 32, columns)), row(32, 1));
    test.check(rows);
    for (int i = 0; i < rows.length; i++) {
      test.check(rows, new int[] {i}, 0, 1, 0, 1, 0);
    }
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
  void aValueThatIsNotFiniteMakesItsRowNaNAndLeavesTheOthersAlone(float value) {
    for (TensorType type : IntegerCase.types()) {
      float[][] rows = rows(11, 256);
      rows[4][type.ordinal() * 13 % 256] = value;
      IntegerCase test = new IntegerCase(List.of(tensor(type, 32, 256)), null);
      float[][] out = test.check(rows);
      for (int i = 0; i < rows.length; i++) {
        for (float y : out[i]) {
          assertThat(Float.isNaN(y)).as("%s, row %s", type, i).isEqualTo(i == 4);
        }
      }
    }
  }

  /** The bytes 0 and 0xff, 0x80 and 0x7f, 0x77 and 0xff are the extreme codes of one or other. */
  @ParameterizedTest
  @MethodSource("types")
  void extremeCodesTimesExtremeActivationsNeitherOverflowNorRound(TensorType type) {
    int columns = 512;
    float[][] rows = new float[9][columns];
    for (int k = 0; k < columns; k++) {
      rows[0][k] = 1;
      rows[1][k] = -1;
      rows[2][k] = k % 2 == 0 ? 1 : -1;
      rows[3][k] = k % 32 < 16 ? 1 : -1;
    }
    for (int i = 4; i < rows.length; i++) {
      for (int k = 0; k < columns; k++) {
        // Near the ends, of mixed parity, so that a float sum beyond 24 bits is rounded.
        rows[i][k] = (1 - random.unit() / 64) * (i % 2 == 0 || random.below(8) == 0 ? 1 : -1);
      }
    }
    for (int value : new int[] {0x00, 0xff, 0x80, 0x7f, 0x77, 0x70}) {
      Tensor tensor = SyntheticTensor.ofOneByte("extreme", type, 32, columns, 0.7f, (byte) value);
      IntegerCase test = new IntegerCase(List.of(tensor), null);
      test.check(rows);
      for (int few = 1; few <= 3; few++) {
        for (int row = 0; row + few <= rows.length; row += few) {
          test.check(rows, new int[] {row, row + 1, row + 2}, 0, few, 0, 1, 0);
        }
      }
    }
  }
}
