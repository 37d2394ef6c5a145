package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.integer.IntegerProducts;
import io.radixflow.kernels.cpu.integer.IntegerRows;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.RowMemory;
import io.radixflow.kernels.cpu.kernel.ScalarKernels;
import io.radixflow.kernels.cpu.step.TileRows;
import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A matrix of codes that all implementations multiply; each must give the reference's bits. */
public final class IntegerCase {

  /** What no product is. */
  private static final float UNTOUCHED = -12345.678f;

  private static final int MARGIN = 5;

  private final IntegerReference reference;
  private final CpuMatrix matrix;
  private final CpuMatrix nativeMatrix;
  private final Map<String, IntegerProducts> products = implementations();
  private final Map<String, IntegerRows> rounded = new LinkedHashMap<>();

  /**
   * @param tensors from top to bottom; all but the last of whole panels
   * @param bias up to whole panels, or null
   */
  IntegerCase(List<Tensor> tensors, float[] bias) {
    reference = new IntegerReference(tensors, bias);
    matrix = matrix(tensors, bias, null);
    NativeKernels fast = NativeKernels.fastest().map(NativeKernels::new).orElse(null);
    nativeMatrix = matrix(tensors, bias, fast);
    assertThat(matrix.panels().hasIntegers()).isTrue();
    products.keySet().forEach(name -> rounded.put(name, new IntegerRows(new RowMemory())));
  }

  /**
   * Packs a matrix.
   *
   * @param tensors from top to bottom
   * @param bias up to whole panels, or null
   * @param fast makes panels for native products; null for products in Java
   */
  public static CpuMatrix matrix(List<Tensor> tensors, float[] bias, NativeKernels fast) {
    try (WorkerTeam team = new WorkerTeam(1)) {
      Floats initial = bias == null ? null : Floats.of(bias);
      return new CpuMatrix(new PanelLoader(team, fast).load(tensors), initial);
    }
  }

  /** The types that have codes and scales by blocks. */
  static List<TensorType> types() {
    return Arrays.stream(TensorType.values())
        .filter(type -> type.blockElements() > 1 && type != TensorType.FP8)
        .toList();
  }

  /** All implementations by name, each for one thread. */
  static Map<String, IntegerProducts> implementations() {
    Map<String, IntegerProducts> all = new LinkedHashMap<>();
    Kernels scalar = new ScalarKernels();
    for (NativeKernels.Isa isa : NativeKernels.supported()) {
      all.put(isa.name(), IntegerProducts.of(new NativeKernels(isa), scalar, 8, 1));
    }
    for (int tile = 2; tile <= TileRows.MOST; tile += 2) {
      all.put("scalar " + tile, IntegerProducts.of(null, scalar, tile, 1));
    }
    return all;
  }

  /** Multiplies all rows with all panels; returns the outputs. */
  float[][] check(float[][] rows) {
    int[] numbers = new int[rows.length];
    Arrays.setAll(numbers, i -> i);
    return check(rows, numbers, 0, rows.length, 0, matrix.panels().count(), 7);
  }

  /**
   * Multiplies some rows with some panels.
   *
   * @param rows what is rounded
   * @param numbers which rows are multiplied, from {@code number}
   * @param gap floats between rows of the output
   */
  float[][] check(
      float[][] rows, int[] numbers, int number, int count, int first, int end, int gap) {
    int width = (end - first) * Kernels.PANEL;
    int stride = width + gap;
    float[] expected = new float[MARGIN + count * stride + MARGIN];
    float[][] outputs = new float[count][];
    Arrays.fill(expected, UNTOUCHED);
    for (int i = 0; i < count; i++) {
      float[] all = reference.times(rows[numbers[number + i]]);
      outputs[i] = Arrays.copyOfRange(all, first * Kernels.PANEL, end * Kernels.PANEL);
      System.arraycopy(outputs[i], 0, expected, MARGIN + i * stride, width);
    }
    products.forEach(
        (name, implementation) -> {
          Floats out = Floats.allocate(expected.length);
          out.fill(0, expected.length, UNTOUCHED);
          IntegerRows packed = pack(implementation, rounded.get(name), rows);
          CpuMatrix own = name.startsWith("scalar") ? matrix : nativeMatrix;
          implementation.multiply(
              own, first, end, packed, numbers, number, count, out, MARGIN, stride, 0);
          assertSameBits(
              out.toArray(), expected, name + ", stride " + stride + ", " + count + " rows");
        });
    return outputs;
  }

  /** The rows lie in an array with others around. */
  private static IntegerRows pack(IntegerProducts products, IntegerRows packed, float[][] rows) {
    int columns = rows[0].length;
    int stride = columns + 3;
    Floats in = Floats.allocate(MARGIN + rows.length * stride);
    in.fill(0, in.length(), Float.NaN);
    packed.begin(rows.length, columns);
    for (int i = 0; i < rows.length; i++) {
      in.put(MARGIN + i * stride, rows[i], 0, columns);
      products.pack(in, MARGIN + i * stride, packed, i);
    }
    return packed;
  }

  /** Requires equal bits, the sign of zero included; one NaN is like another. */
  public static void assertSameBits(float[] actual, float[] expected, String name) {
    for (int i = 0; i < expected.length; i++) {
      if (Float.floatToIntBits(actual[i]) != Float.floatToIntBits(expected[i])) {
        assertThat(actual[i]).as("%s: element %d", name, i).isEqualTo(expected[i]);
        assertThat(Float.floatToIntBits(actual[i]))
            .as("%s: bits of element %d", name, i)
            .isEqualTo(Float.floatToIntBits(expected[i]));
      }
    }
  }
}
