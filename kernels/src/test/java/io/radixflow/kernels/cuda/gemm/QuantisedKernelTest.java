package io.radixflow.kernels.cuda.gemm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.radixflow.kernels.cpu.SyntheticTensor;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelTest;
import io.radixflow.kernels.cuda.step.Bf16;
import io.radixflow.kernels.cuda.weights.BFloat16;
import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.kernels.cuda.weights.WeightMemory;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import jcuda.Pointer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Kernels that unpack weights have the bits of those that read the same weights as bf16. */
class QuantisedKernelTest extends KernelTest {

  private static final int[][] SIZES = {
    {1, 16, 32}, {5, 48, 96}, {9, 40, 256}, {70, 144, 320}, {130, 272, 512}, {3, 203, 768}
  };

  static Stream<Arguments> productsByType() {
    return Stream.of(GemmKernel.values())
        .flatMap(kernel -> kernel.format().types().stream().map(type -> arguments(kernel, type)));
  }

  static Stream<TensorType> types() {
    return Stream.of(WeightFormat.values()).flatMap(format -> format.types().stream());
  }

  @ParameterizedTest
  @MethodSource("productsByType")
  void productsHaveTheBitsOfThoseWithWeightsRoundedToBf16(GemmKernel kernel, TensorType type) {
    for (int[] size : SIZES) {
      if (size[2] % type.blockElements() != 0) {
        continue;
      }
      Tensor tensor = tensor(type, size[1], size[2]);
      short[] x = Bf16.random(size[0] * size[2], 1, new Random(size[2]));
      DeviceMemory rows = device(x);
      float[] got = multiply(kernel, packed(tensor), rows, size);
      float[] expected = multiply(GemmKernel.F64_R64, device(rounded(tensor)), rows, size);
      assertThat(Arrays.mismatch(got, expected))
          .as("%s: first difference for %s", kernel, Arrays.toString(size))
          .isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @MethodSource("types")
  void rowsOfATableAreThoseRoundedToBf16(TensorType type) {
    Tensor tensor = tensor(type, 53, 512);
    int[] rows = {52, 0, 7, 21, 8, -1};
    short[] all = rounded(tensor);
    float[] got = Bf16.toFloats(embedded(tensor, 52, 0, 7, -2, 8, 53));
    for (int i = 0; i < rows.length; i++) {
      float[] expected =
          rows[i] < 0
              ? new float[512]
              : Bf16.toFloats(Arrays.copyOfRange(all, rows[i] * 512, (rows[i] + 1) * 512));
      for (int column = 0; column < 512; column++) {
        // A zero may have either sign, which does not change a sum.
        assertThat(got[i * 512 + column] + 0f)
            .as("row %d, column %d", rows[i], column)
            .isEqualTo(expected[column] + 0f);
      }
    }
  }

  /** Rows of a table as the device has them; negative tokens are places of a ring with 3 and 21. */
  private short[] embedded(Tensor tensor, int... tokens) {
    int width = tensor.columns();
    DeviceMemory out = allocate((long) tokens.length * width * Short.BYTES);
    module
        .launch("rf_embed" + WeightFormat.of(tensor.type()).suffix())
        .pointer(packed(tensor))
        .pointer(device(tokens.length))
        .pointer(device(tokens))
        .pointer(device(3, 21))
        .pointer(out)
        .integer(width)
        .integer(tensor.rows())
        .real(1)
        .grid(2)
        .block(128)
        .on(stream);
    return shorts(out, tokens.length * width);
  }

  private static Tensor tensor(TensorType type, int rows, int columns) {
    return new SyntheticTensor("weights", type, rows, columns, 0.3f, 0, 5);
  }

  private DeviceMemory packed(Tensor tensor) {
    byte[] bytes = WeightMemory.packed(tensor);
    DeviceMemory memory = allocate(bytes.length);
    memory.write(Pointer.to(bytes), bytes.length);
    return memory;
  }

  private static short[] rounded(Tensor tensor) {
    short[] all = new short[tensor.rows() * tensor.columns()];
    float[] row = new float[tensor.columns()];
    for (int i = 0; i < all.length; i++) {
      if (i % row.length == 0) {
        tensor.dequantize(i / row.length, row, 0);
      }
      all[i] = BFloat16.fromFloat(row[i % row.length]);
    }
    return all;
  }

  private float[] multiply(GemmKernel kernel, DeviceMemory weights, DeviceMemory x, int[] size) {
    DeviceMemory out = allocate((long) size[0] * size[1] * Float.BYTES);
    module
        .launch(kernel.function())
        .pointer(weights)
        .wide(0)
        .pointer(x)
        .pointer(out)
        .nullPointer()
        .nullPointer()
        .pointer(device(size[0]))
        .nullPointer()
        .integer(size[1])
        .integer(size[2])
        .integer(GemmEpilogue.LOGITS.code())
        .real(1)
        .real(0)
        .integer(size[2])
        .integer(0)
        .integer(size[1])
        .integer(0)
        .grid(kernel.gridX(size[1]), kernel.gridY(size[0]), 1)
        .block(kernel.threads())
        .shared(kernel.sharedBytes())
        .on(stream);
    return floats(out, size[0] * size[1]);
  }
}
