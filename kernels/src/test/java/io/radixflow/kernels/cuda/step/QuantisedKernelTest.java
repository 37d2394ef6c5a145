package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.radixflow.kernels.cpu.SyntheticTensor;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelTest;
import io.radixflow.kernels.cuda.weights.BFloat16;
import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.kernels.cuda.weights.WeightMemory;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.util.Arrays;
import java.util.Random;
import jcuda.Pointer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Kernels that unpack weights have the bits of those that read the same weights as bf16. */
class QuantisedKernelTest extends KernelTest {

  private static final int[][] SIZES = {
    {1, 16, 32}, {5, 48, 96}, {9, 40, 256}, {70, 144, 320}, {130, 272, 512}, {3, 203, 768}
  };

  @ParameterizedTest
  @EnumSource
  void productsHaveTheBitsOfThoseWithWeightsRoundedToBf16(GemmKernel kernel) {
    assumeThat(kernel.format().quantised()).isTrue();
    for (int[] size : SIZES) {
      if (size[2] % type(kernel.format()).blockElements() != 0) {
        continue;
      }
      Tensor tensor = tensor(kernel.format(), size[1], size[2]);
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
  @EnumSource
  void rowsOfATableAreThoseRoundedToBf16(WeightFormat format) {
    assumeThat(format.quantised()).isTrue();
    int vocab = 53;
    int width = 512;
    Tensor tensor = tensor(format, vocab, width);
    int[] tokens = {52, 0, 7, -2, 8, 53};
    DeviceMemory out = allocate((long) tokens.length * width * Short.BYTES);
    module
        .launch("rf_embed" + format.suffix())
        .pointer(packed(tensor))
        .pointer(device(tokens.length))
        .pointer(device(tokens))
        .pointer(device(3, 21))
        .pointer(out)
        .integer(width)
        .integer(vocab)
        .real(1)
        .grid(2)
        .block(128)
        .on(stream);
    short[] all = rounded(tensor);
    short[] got = shorts(out, tokens.length * width);
    int[] rows = {52, 0, 7, 21, 8, -1};
    for (int i = 0; i < rows.length; i++) {
      short[] expected =
          rows[i] < 0
              ? new short[width]
              : Arrays.copyOfRange(all, rows[i] * width, (rows[i] + 1) * width);
      assertThat(Arrays.copyOfRange(got, i * width, (i + 1) * width))
          .as("row %d", rows[i])
          .isEqualTo(expected);
    }
  }

  private static Tensor tensor(WeightFormat format, int rows, int columns) {
    return new SyntheticTensor("weights", type(format), rows, columns, 0.3f, 0, 5);
  }

  private static TensorType type(WeightFormat format) {
    return TensorType.valueOf(format.name());
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
    KernelLaunch launch =
        module.launch(kernel.function()).pointer(weights).pointer(x).pointer(out).nullPointer();
    launch
        .pointer(device(size[0]))
        .nullPointer()
        .integer(size[1])
        .integer(size[2])
        .integer(GemmEpilogue.LOGITS.code())
        .real(1)
        .real(0)
        .grid(kernel.gridX(size[1]), kernel.gridY(size[0]), 1)
        .block(kernel.threads())
        .shared(kernel.sharedBytes())
        .on(stream);
    return floats(out, size[0] * size[1]);
  }
}
