package io.radixflow.kernels.cpu.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.IntegerCase;
import io.radixflow.kernels.cpu.IntegerReference;
import io.radixflow.kernels.cpu.SyntheticTensor;
import io.radixflow.kernels.cpu.integer.IntegerProducts;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.KernelProvider;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Regions of products take the integers' bits for codes and leave floats as they were. */
class IntegerMatmulTest {

  private static final int COLUMNS = 288;
  private static final float UNTOUCHED = -12345.678f;

  private final SyntheticTensor.Mix random = new SyntheticTensor.Mix(4);
  private final List<Tensor> codes =
      List.of(tensor("a", TensorType.Q4_0, 320), tensor("b", TensorType.Q8_0, 41));
  private final List<Tensor> floats = List.of(tensor("c", TensorType.BF16, 75));
  private final float[] bias = floats(384);

  private WorkerTeam team;
  private NativeKernels fast;
  private Kernels kernels;
  private IntegerProducts products;

  static Stream<Arguments> implementations() {
    return Stream.of(1, 2)
        .flatMap(threads -> Stream.of("scalar", "native").map(name -> Arguments.of(name, threads)));
  }

  private void begin(String name, int threads) {
    team = new WorkerTeam(threads);
    fast =
        name.equals("native") ? NativeKernels.fastest().map(NativeKernels::new).orElse(null) : null;
    kernels = KernelProvider.of(fast);
    products = IntegerProducts.of(fast, kernels, 6, threads);
  }

  @AfterEach
  void close() {
    team.close();
  }

  private static Tensor tensor(String name, TensorType type, int rows) {
    return new SyntheticTensor(name, type, rows, COLUMNS, 0.7f, 0f, 1);
  }

  private float[] floats(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = 2 * random.unit() - 1;
    }
    return values;
  }

  private CpuMatrix matrix(List<Tensor> tensors, float[] bias) {
    return IntegerCase.matrix(tensors, bias, fast);
  }

  @ParameterizedTest
  @MethodSource("implementations")
  void oneProductOfCodesGivesTheFormulasBits(String name, int threads) {
    begin(name, threads);
    IntegerReference reference = new IntegerReference(codes, bias);
    CpuMatrix matrix = matrix(codes, bias);
    MatmulRegion region = new MatmulRegion(team, kernels, products, new PartTimes(team));
    int inStride = COLUMNS + 32;
    int outStride = reference.outputs() + 32;
    for (int rows : new int[] {3, 3, 1, 1, 9, 70, 2, 150}) {
      float[] in = floats(rows * inStride);
      Floats out = Floats.allocate(rows * outStride + 10);
      float[] expected = new float[out.length()];
      out.fill(0, expected.length, UNTOUCHED);
      Arrays.fill(expected, UNTOUCHED);
      for (int row = 0; row < rows; row++) {
        float[] x = Arrays.copyOfRange(in, row * inStride, row * inStride + COLUMNS);
        System.arraycopy(reference.times(x), 0, expected, row * outStride, reference.outputs());
      }

      region.multiply(matrix, Floats.of(in), inStride, out, outStride, rows);

      IntegerCase.assertSameBits(out.toArray(), expected, rows + " rows");
    }
  }

  /** One of many products: which rows of the input, from which element, and where outputs go. */
  private record Product(
      boolean codes, int[] rows, int first, int count, int inAt, int outRow, int outAt) {}

  @ParameterizedTest
  @MethodSource("implementations")
  void manyProductsOfCodesAndFloatsGiveTheBitsOfEachAlone(String name, int threads) {
    begin(name, threads);
    CpuMatrix codesMatrix = matrix(codes, bias);
    CpuMatrix floatsMatrix = matrix(floats, null);
    IntegerReference reference = new IntegerReference(codes, bias);
    GroupedMatmul grouped = new GroupedMatmul(team, kernels, products, new PartTimes(team));
    int inStride = 2 * COLUMNS + 5;
    int outStride = 500;
    float[] in = floats(40 * inStride);
    for (int round = 0; round < 4; round++) {
      List<Product> list = products(1 + 8 * round, round % 2 == 0);
      Floats out = Floats.allocate(200 * outStride);
      out.fill(0, out.length(), UNTOUCHED);
      float[] expected = out.toArray();
      grouped.begin(Floats.of(in), inStride, out, outStride);
      for (Product product : list) {
        CpuMatrix matrix = product.codes ? codesMatrix : floatsMatrix;
        grouped.add(
            matrix,
            product.rows,
            product.first,
            product.count,
            product.inAt,
            product.outRow,
            product.outAt);
        for (int i = 0; i < product.count; i++) {
          int from = product.rows[product.first + i] * inStride + product.inAt;
          float[] x = Arrays.copyOfRange(in, from, from + COLUMNS);
          float[] y = product.codes ? reference.times(x) : timesFloats(x);
          int at = (product.outRow + i) * outStride + product.outAt;
          System.arraycopy(y, 0, expected, at, matrix.panels().rows());
        }
      }

      grouped.run(null);

      IntegerCase.assertSameBits(out.toArray(), expected, "round " + round);
    }
  }

  /**
   * @param oneOffset whether all read rows from the same element on, as experts do
   */
  private List<Product> products(int count, boolean oneOffset) {
    List<Product> products = new ArrayList<>();
    int outRow = 0;
    for (int i = 0; i < count; i++) {
      int[] rows = new int[3 + 9];
      Arrays.setAll(rows, row -> random.below(40));
      int own = 1 + random.below(9);
      int inAt = oneOffset ? COLUMNS : i % 2 * COLUMNS;
      products.add(new Product(i % 3 != 1, rows, random.below(3), own, inAt, outRow, 1 + i % 5));
      outRow += own;
    }
    assertThat(outRow).isLessThanOrEqualTo(200 - 1);
    return products;
  }

  /** One chain of multiply-adds over k for each output. */
  private float[] timesFloats(float[] x) {
    Tensor tensor = floats.get(0);
    float[] out = new float[tensor.rows()];
    float[] weights = new float[COLUMNS];
    for (int row = 0; row < out.length; row++) {
      tensor.dequantize(row, weights, 0);
      for (int k = 0; k < COLUMNS; k++) {
        out[row] = Math.fma(weights[k], x[k], out[row]);
      }
    }
    return out;
  }
}
