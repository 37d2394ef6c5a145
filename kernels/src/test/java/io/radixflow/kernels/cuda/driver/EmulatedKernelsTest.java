package io.radixflow.kernels.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cuda.step.Bf16;
import java.util.Arrays;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** The emulated device does what the CUDA language and the PTX ISA say. */
class EmulatedKernelsTest extends ProbeTest {

  @Test
  void warpOperationsMoveValuesBetweenLanes() {
    int[] in = new Random(1).ints(32, 0, 1000).toArray();
    in[13] = 7;
    assertThat(warp(0, in)).isEqualTo(lanes(lane -> in[(lane + 5) % 32]));
    assertThat(warp(1, in)).isEqualTo(lanes(lane -> in[lane ^ 3]));
    assertThat(warp(2, in)).isEqualTo(lanes(lane -> in[lane < 28 ? lane + 4 : lane]));
    assertThat(warp(3, in)).isEqualTo(lanes(lane -> in[lane % 8 == 0 ? lane : lane - 1]));
    int odd = IntStream.range(0, 32).map(lane -> (in[lane] & 1) << lane).sum();
    assertThat(warp(4, in)).isEqualTo(lanes(lane -> odd));
    assertThat(warp(5, in)).isEqualTo(lanes(lane -> 3));
    assertThat(warp(6, in)).isEqualTo(lanes(lane -> lane < 10 ? in[lane ^ 1] : -1));
  }

  @Test
  void barriersAndAtomicsSumAGrid() {
    int[] in = new Random(2).ints(10_000, 0, 100).toArray();
    DeviceMemory sum = device(0);
    module
        .launch("probe_sum")
        .pointer(device(in))
        .integer(in.length)
        .pointer(sum)
        .grid(7)
        .block(128)
        .shared(512)
        .on(stream);
    assertThat(ints(sum, 1)).containsExactly(IntStream.of(in).sum());
  }

  @Test
  void aTensorCoreMultipliesFragments() {
    Random random = new Random(3);
    short[] a = Bf16.random(16 * 16, 1, random);
    short[] b = Bf16.random(16 * 8, 1, random);
    DeviceMemory d = allocate(16 * 8 * Float.BYTES);
    module
        .launch("probe_mma")
        .pointer(device(a))
        .pointer(device(b))
        .pointer(d)
        .block(32)
        .shared(768)
        .on(stream);
    float[] got = floats(d, 16 * 8);
    for (int i = 0; i < 16; i++) {
      for (int j = 0; j < 8; j++) {
        double want = 0;
        for (int k = 0; k < 16; k++) {
          want += (double) Bf16.toFloat(a[i * 16 + k]) * Bf16.toFloat(b[k * 8 + j]);
        }
        assertThat((double) got[i * 8 + j]).isCloseTo(want, Offset.offset(1e-5));
      }
    }
  }

  @Test
  void aWarpgroupMultipliesSwizzledTiles() {
    short[] a = Bf16.random(64 * 64, 1, new Random(4));
    short[] b = Bf16.random(128 * 64, 1, new Random(5));
    float[] got = warpgroup(a, b, 0);
    double[] want = product(a, b);
    for (int i = 0; i < want.length; i++) {
      assertThat((double) got[i]).isCloseTo(want[i], Offset.offset(1e-4));
    }
  }

  @Test
  void aProductThatIsNotWaitedForIsNotThere() {
    float[] got = warpgroup(new short[64 * 64], new short[128 * 64], 1);
    for (float value : got) {
      assertThat(value).isNaN();
    }
  }

  @Test
  void aTileThatIsOverwrittenTooEarlySpoilsTheProduct() {
    short[] a = Bf16.random(64 * 64, 1, new Random(6));
    short[] b = Bf16.random(128 * 64, 1, new Random(7));
    float[] got = warpgroup(a, b, 2);
    double[] want = product(a, b);
    assertThat(IntStream.range(0, want.length).filter(i -> Math.abs(got[i] - want[i]) > 1).count())
        .isPositive();
  }

  @Test
  void aProductOfWhatAThreadDidNotFenceIsNotANumber() {
    float[] got = warpgroup(new short[64 * 64], new short[128 * 64], 3);
    assertThat(IntStream.range(0, got.length).filter(i -> Float.isNaN(got[i])).count())
        .isPositive();
  }

  @Test
  void aCopyThatIsNotWaitedForIsNotThere() {
    float[] got = fourEach("probe_missing_wait", 64, 256);
    for (float value : got) {
      assertThat(value).isNaN();
    }
  }

  @Test
  void aMissingBarrierShows() {
    float[] got = fourEach("probe_missing_barrier", 256, 256);
    assertThat(IntStream.range(0, 256).filter(i -> Float.isNaN(got[i])).count()).isPositive();
  }

  @Test
  void aRaceEndsInTheOrderOfTheThreads() {
    DeviceMemory out = allocate(4);
    module.launch("probe_race").pointer(out).block(96).on(stream);
    assertThat(ints(out, 1)).containsExactly(order == Order.FORWARD ? 95 : 0);
  }

  private int[] warp(int operation, int[] in) {
    DeviceMemory out = allocate(32 * Integer.BYTES);
    module
        .launch("probe_warp")
        .integer(operation)
        .pointer(device(in))
        .pointer(out)
        .block(32)
        .on(stream);
    return ints(out, 32);
  }

  private static int[] lanes(IntUnaryOperator value) {
    return IntStream.range(0, 32).map(value).toArray();
  }

  private float[] fourEach(String kernel, int threads, int count) {
    float[] in = new float[count];
    Arrays.fill(in, 1);
    DeviceMemory out = allocate((long) count * Float.BYTES);
    module
        .launch(kernel)
        .pointer(device(in))
        .pointer(out)
        .block(threads)
        .shared(count * Float.BYTES)
        .on(stream);
    return floats(out, count);
  }

  private float[] warpgroup(short[] a, short[] b, int mistake) {
    DeviceMemory d = allocate(64 * 128 * Float.BYTES);
    module
        .launch("probe_wgmma")
        .pointer(device(a))
        .pointer(device(b))
        .pointer(d)
        .integer(mistake)
        .block(128)
        .shared((64 + 128) * 128)
        .on(stream);
    return floats(d, 64 * 128);
  }

  private static double[] product(short[] a, short[] b) {
    double[] d = new double[64 * 128];
    for (int i = 0; i < 64; i++) {
      for (int j = 0; j < 128; j++) {
        for (int k = 0; k < 64; k++) {
          d[i * 128 + j] += (double) Bf16.toFloat(a[i * 64 + k]) * Bf16.toFloat(b[j * 64 + k]);
        }
      }
    }
    return d;
  }
}
