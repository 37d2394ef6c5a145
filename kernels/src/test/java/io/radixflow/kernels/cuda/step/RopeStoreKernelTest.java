package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelTest;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RopeStoreKernelTest extends KernelTest {

  private static final float EPSILON = 1e-6f;
  private static final int PAGE_TOKENS = 16;
  private static final int PAGES = 5;
  private static final int POSITIONS = 3000;

  @ParameterizedTest
  @CsvSource({
    "1, 1, 1, 64, false",
    "2, 4, 2, 16, false",
    "2, 3, 1, 32, true",
    "3, 5, 2, 256, false",
    "2, 8, 4, 256, true",
    "5, 9, 3, 64, false",
    "37, 4, 1, 80, false",
    "3, 32, 8, 96, false",
    "7, 16, 2, 128, false",
    "1, 1, 1, 128, true",
    "5, 9, 3, 64, true",
    "6, 3, 3, 80, true",
    "9, 16, 1, 96, true",
    "17, 16, 8, 128, true"
  })
  void queriesRotateInPlaceAndKeysAndValuesAreStoredInTheirSlots(
      int rows, int heads, int kvHeads, int headDim, boolean normed) {
    Random random = new Random(rows * 1000L + headDim);
    int all = heads + 2 * kvHeads;
    short[] qkv = Bf16.random((rows + 2) * all * headDim, 2, random);
    int[] positions = random.ints(rows + 2, 0, POSITIONS).toArray();
    int[] slots = slots(rows + 2, random);
    float[] rotations = rotations(headDim);
    float[] queryGain = normed ? gains(headDim, random) : null;
    float[] keyGain = normed ? gains(headDim, random) : null;
    int poolSize = PAGES * PAGE_TOKENS * kvHeads * headDim;
    DeviceMemory state = device(qkv);
    DeviceMemory keys = allocate((long) poolSize * Short.BYTES);
    DeviceMemory values = allocate((long) poolSize * Short.BYTES);
    keys.fillAsync((byte) 0x55, stream);
    values.fillAsync((byte) 0x55, stream);

    KernelLaunch launch = module.launch("rf_rope_store").pointer(state);
    if (normed) {
      launch.pointer(device(queryGain)).pointer(device(keyGain));
    } else {
      launch.nullPointer().nullPointer();
    }
    launch
        .pointer(device(rotations))
        .nullPointer()
        .pointer(keys)
        .pointer(values)
        .pointer(device(rows))
        .pointer(device(positions))
        .pointer(device(slots))
        .integer(heads)
        .integer(kvHeads)
        .integer(headDim)
        .real(EPSILON)
        .integer(PAGE_TOKENS)
        .grid(rows + 2)
        .block(128)
        .on(stream);

    short[] gotState = shorts(state, qkv.length);
    short[] gotKeys = shorts(keys, poolSize);
    short[] gotValues = shorts(values, poolSize);
    Turned turned = new Turned(rows * (heads + kvHeads) * headDim);
    int kept = 0;
    for (int row = 0; row < rows; row++) {
      for (int head = 0; head < heads + kvHeads; head++) {
        boolean query = head < heads;
        turned.add(
            qkv,
            (row * all + head) * headDim,
            headDim,
            query ? queryGain : keyGain,
            rotations,
            positions[row],
            query ? gotState : gotKeys,
            query ? (row * all + head) * headDim : (slots[row] * kvHeads + head - heads) * headDim);
      }
      for (int head = 0; head < kvHeads; head++) {
        int from = (row * all + heads + kvHeads + head) * headDim;
        int to = (slots[row] * kvHeads + head) * headDim;
        for (int i = 0; i < headDim; i++) {
          assertThat(gotValues[to + i]).as("value").isEqualTo(qkv[from + i]);
        }
      }
      kept += kvHeads * headDim;
    }
    turned.check();
    for (short[] plane : new short[][] {gotKeys, gotValues}) {
      assertThat(IntStream.range(0, poolSize).filter(i -> plane[i] == 0x5555).count())
          .as("elements of other slots")
          .isGreaterThanOrEqualTo(poolSize - kept);
    }
    for (int i = rows * all * headDim; i < qkv.length; i++) {
      assertThat(gotState[i]).as("row behind the valid ones").isEqualTo(qkv[i]);
    }
  }

  @Test
  void withoutATableNothingIsRotatedAndQueriesAloneAreMultipliedWithTheirFactor() {
    int headDim = 32;
    short[] qkv = Bf16.random(2 * 4 * headDim, 2, new Random(3));
    DeviceMemory state = device(qkv);
    DeviceMemory keys = allocate((long) PAGE_TOKENS * headDim * Short.BYTES);
    DeviceMemory values = allocate((long) PAGE_TOKENS * headDim * Short.BYTES);
    module
        .launch("rf_rope_store")
        .pointer(state)
        .nullPointer()
        .nullPointer()
        .nullPointer()
        .pointer(device(new float[] {1, 1.5f, 3}))
        .pointer(keys)
        .pointer(values)
        .pointer(device(2))
        .pointer(device(new int[] {1, 2}))
        .pointer(device(new int[] {5, 9}))
        .integer(2)
        .integer(1)
        .integer(headDim)
        .real(EPSILON)
        .integer(PAGE_TOKENS)
        .grid(2)
        .block(128)
        .on(stream);

    short[] gotState = shorts(state, qkv.length);
    short[] gotKeys = shorts(keys, PAGE_TOKENS * headDim);
    for (int row = 0; row < 2; row++) {
      float factor = row == 0 ? 1.5f : 3;
      for (int i = 0; i < 2 * headDim; i++) {
        int at = row * 4 * headDim + i;
        assertThat(gotState[at]).isEqualTo(Bf16.of(Bf16.toFloat(qkv[at]) * factor));
      }
      for (int i = 0; i < headDim; i++) {
        assertThat(gotKeys[(row == 0 ? 5 : 9) * headDim + i])
            .isEqualTo(qkv[(row * 4 + 2) * headDim + i]);
      }
    }
  }

  /** Compares heads with the rotation of the normalised input. */
  private static final class Turned {

    private final double[] exact;
    private final float[] plain;
    private final float[] got;
    private int at;

    Turned(int size) {
      exact = new double[size];
      plain = new float[size];
      got = new float[size];
    }

    void add(
        short[] input,
        int from,
        int headDim,
        float[] gain,
        float[] rotations,
        int position,
        short[] output,
        int to) {
      double squares = 0;
      for (int i = 0; i < headDim; i++) {
        squares += Math.pow(Bf16.toFloat(input[from + i]), 2);
      }
      double scale = 1 / Math.sqrt(squares / headDim + EPSILON);
      int half = headDim / 2;
      for (int i = 0; i < headDim; i++) {
        int pair = i % half;
        double cosine = rotations[position * headDim + pair];
        double sine = rotations[position * headDim + half + pair];
        double sign = i < half ? -1 : 1;
        int other = i < half ? i + half : i - half;
        double mine = Bf16.toFloat(input[from + i]);
        double across = Bf16.toFloat(input[from + other]);
        float plainMine = (float) mine;
        float plainAcross = (float) across;
        if (gain != null) {
          plainMine = plainNorm(mine, scale, gain[i]);
          plainAcross = plainNorm(across, scale, gain[other]);
          mine *= scale * gain[i];
          across *= scale * gain[other];
        }
        exact[at] = mine * cosine + sign * across * sine;
        plain[at] =
            Bf16.round(
                Bf16.round(plainMine * Bf16.round((float) cosine))
                    + (float) sign * Bf16.round(plainAcross * Bf16.round((float) sine)));
        got[at++] = Bf16.toFloat(output[to + i]);
      }
    }

    private static float plainNorm(double value, double scale, float gain) {
      return Bf16.round(Bf16.round((float) (value * scale)) * Bf16.round(gain));
    }

    void check() {
      assertThat(at).isEqualTo(exact.length);
      new Closeness(exact, plain).check(got, "turned heads");
    }
  }

  /** Different slots all over the pool. */
  private static int[] slots(int rows, Random random) {
    int[] all = IntStream.range(0, PAGES * PAGE_TOKENS).toArray();
    for (int i = 0; i < rows; i++) {
      int other = i + random.nextInt(all.length - i);
      int kept = all[i];
      all[i] = all[other];
      all[other] = kept;
    }
    return IntStream.of(all).limit(rows).toArray();
  }

  private static float[] rotations(int headDim) {
    int half = headDim / 2;
    float[] table = new float[POSITIONS * headDim];
    for (int position = 0; position < POSITIONS; position++) {
      for (int i = 0; i < half; i++) {
        double angle = position * Math.pow(10_000, -2.0 * i / headDim);
        table[position * headDim + i] = (float) Math.cos(angle);
        table[position * headDim + half + i] = (float) Math.sin(angle);
      }
    }
    return table;
  }
}
