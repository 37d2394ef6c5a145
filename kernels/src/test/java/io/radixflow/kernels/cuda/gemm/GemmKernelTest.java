package io.radixflow.kernels.cuda.gemm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelTest;
import io.radixflow.kernels.cuda.step.Bf16;
import io.radixflow.kernels.cuda.step.Closeness;
import io.radixflow.kernels.cuda.weights.WeightFormat;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.function.DoublePredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GemmKernelTest extends KernelTest {

  private static final int[][] SIZES = {
    {1, 16, 8}, {5, 48, 72}, {9, 40, 200}, {70, 144, 328}, {34, 272, 576}
  };

  /** The expected results by size and epilogue, the same for all kernels. */
  private static final Map<String, Closeness> EXPECTED = new HashMap<>();

  @ParameterizedTest
  @EnumSource
  void sumsAreAtMostTwiceAsFarOffAsPlainBf16(GemmKernel kernel) {
    assumeSupported(kernel);
    for (int[] size : SIZES) {
      GemmCase product = new GemmCase(size[0], size[1], size[2], new Random(size[2]));
      for (GemmEpilogue epilogue : GemmEpilogue.values()) {
        if (product.allows(epilogue)) {
          float[] got = multiply(kernel, product, epilogue, null);
          String what = Arrays.toString(size) + " " + epilogue;
          EXPECTED.computeIfAbsent(what, key -> product.expected(epilogue)).check(got, what);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void logitsTakeTheRowsThatAreAskedForOverAnOddVocabulary(GemmKernel kernel) {
    assumeSupported(kernel);
    GemmCase all = new GemmCase(21, 53, 136, new Random(3));
    GemmCase chosen = new GemmCase(6, 53, 136, new Random(3));
    int[] gather = {20, 3, 3, 0, 11, 7};
    for (int row = 0; row < gather.length; row++) {
      System.arraycopy(all.x, gather[row] * 136, chosen.x, row * 136, 136);
    }
    System.arraycopy(all.weights, 0, chosen.weights, 0, all.weights.length);

    float[] got = multiply(kernel, all, GemmEpilogue.LOGITS, gather);

    chosen.expected(GemmEpilogue.LOGITS).check(got, "logits");
  }

  @ParameterizedTest
  @EnumSource
  void theResidualMayBeReplacedByTheResult(GemmKernel kernel) {
    assumeSupported(kernel);
    GemmCase product = new GemmCase(11, 80, 192, new Random(5));
    DeviceMemory hidden = device(product.residual);

    launch(kernel, product, GemmEpilogue.RESIDUAL, null, hidden, hidden);

    float[] got = Bf16.toFloats(shorts(hidden, product.residual.length));
    product.expected(GemmEpilogue.RESIDUAL).check(got, "residual");
  }

  @ParameterizedTest
  @EnumSource
  void rowsBehindTheLastAreLeftAlone(GemmKernel kernel) {
    assumeSupported(kernel);
    GemmCase product = new GemmCase(3, 32, 64, new Random(7));
    int rows = 2 * kernel.rows() + 1;
    short[] before = new short[rows * 32];
    Arrays.fill(before, (short) 0x4321);
    DeviceMemory out = device(before);

    launch(kernel, product, GemmEpilogue.PLAIN, null, out, null, rows);

    short[] got = shorts(out, before.length);
    assertThat(Arrays.copyOfRange(got, 3 * 32, got.length)).containsOnly((short) 0x4321);
    assertThat(Arrays.copyOf(got, 3 * 32)).doesNotContain((short) 0x4321);
  }

  @ParameterizedTest
  @EnumSource
  void inDeterministicModeARowHasTheSameBitsInEveryTileAndBatch(GemmKernel kernel) {
    assumeSupported(kernel);
    GemmCase product = new GemmCase(37, 48, 432, new Random(11));
    product.cancel();
    float[] expected = multiply(GemmKernel.F64_R64, product, GemmEpilogue.LOGITS, null);
    assertThat(share(expected, value -> value != 0))
        .as("not zero, but for rounding")
        .isGreaterThan(0.5);

    int[] alone = {36};
    int[] mixed = IntStream.range(0, 37).map(i -> i * 10 % 37).toArray();
    for (int[] gather : new int[][] {alone, mixed}) {
      float[] got = multiply(kernel, product, GemmEpilogue.LOGITS, gather);
      float[] wanted = new float[gather.length * 48];
      for (int row = 0; row < gather.length; row++) {
        System.arraycopy(expected, gather[row] * 48, wanted, row * 48, 48);
      }
      String what = kernel + " of rows " + Arrays.toString(gather);
      if (kernel.deterministic()) {
        assertThat(Arrays.mismatch(got, wanted)).as("%s: first difference", what).isEqualTo(-1);
      } else if (order != Order.DEVICE) {
        assertThat(Arrays.mismatch(got, wanted))
            .as("%s: an order of its own", what)
            .isNotNegative();
      }
    }
  }

  private static double share(float[] values, DoublePredicate condition) {
    return IntStream.range(0, values.length).filter(i -> condition.test(values[i])).count()
        / (double) values.length;
  }

  private void assumeSupported(GemmKernel kernel) {
    assumeThat(kernel.format()).isEqualTo(WeightFormat.BF16);
    assumeThat(!kernel.hopper() || context.device().hopper()).isTrue();
  }

  private float[] multiply(
      GemmKernel kernel, GemmCase product, GemmEpilogue epilogue, int[] gather) {
    int count = (gather == null ? product.rows : gather.length) * product.width(epilogue);
    DeviceMemory out = allocate((long) count * Float.BYTES);
    DeviceMemory extra =
        switch (epilogue) {
          case BIAS, GEGLU, NORMAL_GLU, CLAMPED_SWIGLU -> device(product.bias);
          case RESIDUAL -> device(product.residual);
          default -> null;
        };
    launch(kernel, product, epilogue, gather, out, extra);
    return epilogue == GemmEpilogue.LOGITS ? floats(out, count) : Bf16.toFloats(shorts(out, count));
  }

  private void launch(
      GemmKernel kernel,
      GemmCase product,
      GemmEpilogue epilogue,
      int[] gather,
      DeviceMemory out,
      DeviceMemory extra) {
    launch(kernel, product, epilogue, gather, out, extra, product.rows);
  }

  private void launch(
      GemmKernel kernel,
      GemmCase product,
      GemmEpilogue epilogue,
      int[] gather,
      DeviceMemory out,
      DeviceMemory extra,
      int maxRows) {
    KernelLaunch launch =
        module
            .launch(kernel.function())
            .pointer(device(product.weights))
            .wide(0)
            .pointer(device(product.x))
            .pointer(out)
            .pointerOrNull(extra)
            .nullPointer();
    launch = launch.pointer(device(gather == null ? product.rows : gather.length));
    launch = gather == null ? launch.nullPointer() : launch.pointer(device(gather));
    launch
        .integer(product.features)
        .integer(product.depth)
        .integer(epilogue.code())
        .real(GemmCase.scale(epilogue))
        .real(GemmCase.bound(epilogue))
        .integer(product.depth)
        .integer(0)
        .integer(product.width(epilogue))
        .integer(0)
        .grid(kernel.gridX(product.features), kernel.gridY(maxRows), 1)
        .block(kernel.threads())
        .shared(kernel.sharedBytes())
        .on(stream);
  }
}
