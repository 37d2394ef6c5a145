package io.radixflow.kernels.cuda.gemm;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.SyntheticTensor;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelTest;
import io.radixflow.kernels.cuda.gemm.MatrixProducts.Operands;
import io.radixflow.kernels.cuda.step.Bf16;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.kernels.cuda.weights.WeightMemory;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import jcuda.Pointer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Products of many rows with weights unpacked before have the bits of those that unpack them. */
class MatrixProductsTest extends KernelTest {

  private static final int ROWS = 300;

  private final GemmPlan plan =
      new GemmPlan(GpuMode.DETERMINISTIC, 132, true, 227 << 10, 228 << 10);
  private final Random random = new Random(4);

  static Stream<Arguments> typesAndShapes() {
    return Stream.of(WeightFormat.values())
        .flatMap(format -> format.types().stream())
        .flatMap(
            type ->
                type.blockElements() == 32
                    ? Stream.of(Arguments.of(type, 48, 160), Arguments.of(type, 203, 32))
                    : Stream.of(Arguments.of(type, 203, 256)));
  }

  @ParameterizedTest
  @MethodSource("typesAndShapes")
  void unpackedWeightsHaveTheBitsOfWeightsThatTheProductUnpacks(
      TensorType type, int features, int depth) {
    CudaMatrix matrix = matrix(type, features, depth, null, null);
    assertSameBits(matrix, GemmEpilogue.LOGITS, 2L * features * depth, 1);
    assertSameBits(matrix, GemmEpilogue.LOGITS, 2L * 33 * depth, (features + 31) / 32);
  }

  @ParameterizedTest
  @EnumSource
  void everyEpilogueOfAMatrixInPartsHasItsPlace(GemmEpilogue epilogue) {
    boolean biased =
        epilogue != GemmEpilogue.PLAIN
            && epilogue != GemmEpilogue.RESIDUAL
            && epilogue != GemmEpilogue.SWIGLU;
    CudaMatrix matrix = matrix(TensorType.Q4_K, 96, 256, biased ? floats(96) : null, null);
    assertSameBits(matrix, epilogue, 2L * 32 * 256, 3);
  }

  @ParameterizedTest
  @EnumSource(
      value = GemmEpilogue.class,
      names = {"PLAIN", "BIAS"})
  void matricesBelowOneAnotherFillTheSameRows(GemmEpilogue epilogue) {
    boolean biased = epilogue == GemmEpilogue.BIAS;
    CudaMatrix below = matrix(TensorType.Q6_K, 40, 256, biased ? floats(40) : null, null);
    CudaMatrix matrix = matrix(TensorType.Q4_K, 64, 256, biased ? floats(64) : null, below);
    assertSameBits(matrix, epilogue, 2L * 32 * 256, 4);
  }

  @ParameterizedTest
  @EnumSource(
      value = WeightFormat.class,
      names = {"Q4_K", "BF16"})
  void fewRowsAndFloatsAreMultipliedAsTheyAre(WeightFormat format) {
    int rows = format == WeightFormat.BF16 ? ROWS : 16;
    CudaMatrix matrix = new CudaMatrix(format, allocate(1 << 16), null, 16, 256, false, null);
    Operands operands = operands(matrix, GemmEpilogue.PLAIN, allocate(1 << 16), rows);
    assertThat(launches(matrix, operands, allocate(1 << 16))).hasSize(1);
  }

  /**
   * @param spaceBytes room for unpacked weights
   * @param parts as many of which they then have
   */
  private void assertSameBits(
      CudaMatrix matrix, GemmEpilogue epilogue, long spaceBytes, int parts) {
    short[] before = Bf16.random(2 * ROWS * matrix.allRows(), 1, new Random(8));
    DeviceMemory result = device(before);
    List<KernelLaunch> unpacked =
        launches(matrix, operands(matrix, epilogue, result, ROWS), allocate(spaceBytes));
    assertThat(unpacked).hasSize(2 * parts);
    unpacked.forEach(launch -> launch.on(stream));
    short[] got = shorts(result, before.length);
    result.write(Pointer.to(before), result.bytes());
    launches(matrix, operands(matrix, epilogue, result, ROWS), null)
        .forEach(launch -> launch.on(stream));
    assertThat(got).isNotEqualTo(before);
    assertThat(Arrays.mismatch(got, shorts(result, before.length)))
        .as("first difference")
        .isEqualTo(-1);
  }

  private Operands operands(
      CudaMatrix matrix, GemmEpilogue epilogue, DeviceMemory result, int rows) {
    DeviceMemory source = device(Bf16.random(rows * matrix.columns(), 1, new Random(7)));
    DeviceMemory residual = epilogue == GemmEpilogue.RESIDUAL ? result : null;
    float bound = epilogue == GemmEpilogue.CLAMPED_SWIGLU ? 0.5f : 0;
    return new Operands(source, result, residual, epilogue, 0.75f, bound, rows, device(rows));
  }

  private List<KernelLaunch> launches(CudaMatrix matrix, Operands operands, DeviceMemory space) {
    List<KernelLaunch> launches = new ArrayList<>();
    new MatrixProducts(module, plan, space).record(matrix, operands, launches);
    return launches;
  }

  private DeviceMemory floats(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return device(values);
  }

  private CudaMatrix matrix(
      TensorType type, int features, int depth, DeviceMemory bias, CudaMatrix below) {
    Tensor tensor = new SyntheticTensor("weights", type, features, depth, 0.3f, 0, 5);
    byte[] bytes = WeightMemory.packed(tensor);
    DeviceMemory memory = allocate(bytes.length);
    memory.write(Pointer.to(bytes), bytes.length);
    return new CudaMatrix(WeightFormat.of(type), memory, bias, features, depth, false, below);
  }
}
