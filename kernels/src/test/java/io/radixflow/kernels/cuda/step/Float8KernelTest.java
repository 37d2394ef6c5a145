package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelTest;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.Float8;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys and values as 8-bit floats: what is stored, and what every code is read as. */
class Float8KernelTest extends KernelTest {

  private static final int PAGE_TOKENS = 32;
  private static final int PAGES = 3;
  private static final int KV_HEADS = 2;

  /** A one in bf16. */
  private static final short ONE = (short) 0x3f80;

  /**
   * Floats that test rounding: exact codes, ties, their neighbours, and values that are too large.
   */
  private static float[] decisions() {
    float[] values = new float[4 * 127];
    for (int code = 0; code < 127; code++) {
      float low = Float8.toFloat((byte) code);
      float tie = code == 126 ? 464 : (low + Float8.toFloat((byte) (code + 1))) / 2;
      float[] all = {low, tie, Math.nextDown(tie), -Math.nextUp(tie)};
      System.arraycopy(all, 0, values, 4 * code, 4);
    }
    return values;
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 80, 256})
  void everyFloatIsStoredAsTheNearestCodeTimesTheScaleOfItsVector(int headDim) {
    float[] decisions = decisions();
    int half = headDim / 2;
    int rows = (decisions.length + half - 1) / half;
    int[] slots = new Random(headDim).ints(0, PAGES * PAGE_TOKENS).distinct().limit(rows).toArray();
    int[] positions = IntStream.range(0, slots.length).toArray();
    // a row's keys are the cosines of its position, and in the second half minus these
    float[] rotations = new float[slots.length * headDim];
    short[] qkv = new short[slots.length * (1 + 2 * KV_HEADS) * headDim];
    Arrays.fill(qkv, ONE);
    for (int row = 0; row < slots.length; row++) {
      for (int i = 0; i < half; i++) {
        float factor = row % 3 == 2 ? 0x1p-60f : 1;
        rotations[row * headDim + i] = decisions[(row * half + i) % decisions.length] * factor;
        for (int head = 0; head < 1 + KV_HEADS; head++) {
          qkv[(row * (1 + 2 * KV_HEADS) + head) * headDim + half + i] = (short) (ONE | 0x8000);
        }
      }
    }
    Random random = new Random(1);
    for (int row = 0; row < slots.length; row++) {
      short[] values = Bf16.random(KV_HEADS * headDim, Math.pow(2, row % 40 - 20), random);
      int at = (row * (1 + 2 * KV_HEADS) + 1 + KV_HEADS) * headDim;
      System.arraycopy(values, 0, qkv, at, values.length);
      if (row == 1) {
        Arrays.fill(qkv, at, at + headDim, (short) 0);
        qkv[at + headDim + 3] = (short) 0x7fc0;
      }
    }

    Float8Pages[] stored = store(headDim, qkv, rotations, positions, slots);

    for (int row = 0; row < slots.length; row++) {
      float[] key = new float[headDim];
      for (int i = 0; i < half; i++) {
        key[i] = rotations[row * headDim + i];
        key[half + i] = 0f - key[i];
      }
      for (int head = 0; head < KV_HEADS; head++) {
        check(stored[0], slots[row], head, key);
        int at = (row * (1 + 2 * KV_HEADS) + 1 + KV_HEADS + head) * headDim;
        check(
            stored[1], slots[row], head, Bf16.toFloats(Arrays.copyOfRange(qkv, at, at + headDim)));
      }
    }
    for (Float8Pages pages : stored) {
      int untouched = 0;
      for (byte each : pages.bytes) {
        untouched += each == 0x55 ? 1 : 0;
      }
      int others = (PAGES * PAGE_TOKENS - slots.length) * KV_HEADS * (headDim + 1);
      assertThat(untouched).as("bytes of other slots").isGreaterThanOrEqualTo(others);
    }
  }

  private Float8Pages[] store(
      int headDim, short[] qkv, float[] rotations, int[] positions, int[] slots) {
    Float8Pages[] stored = new Float8Pages[2];
    DeviceMemory[] planes = new DeviceMemory[2];
    for (int plane = 0; plane < 2; plane++) {
      stored[plane] = new Float8Pages(PAGES, PAGE_TOKENS, KV_HEADS, headDim);
      planes[plane] = allocate(stored[plane].bytes.length);
      planes[plane].fillAsync((byte) 0x55, stream);
    }
    module
        .launch("rf_rope_store_float8")
        .pointer(device(qkv))
        .nullPointer()
        .nullPointer()
        .pointer(device(rotations))
        .nullPointer()
        .pointer(planes[0])
        .pointer(planes[1])
        .pointer(device(slots.length))
        .pointer(device(positions))
        .pointer(device(slots))
        .integer(1)
        .integer(KV_HEADS)
        .integer(headDim)
        .real(1e-6f)
        .integer(PAGE_TOKENS)
        .grid(slots.length)
        .block(128)
        .on(stream);
    for (int plane = 0; plane < 2; plane++) {
      System.arraycopy(bytes(planes[plane]), 0, stored[plane].bytes, 0, stored[plane].bytes.length);
    }
    return stored;
  }

  private static void check(Float8Pages pages, int slot, int head, float[] vector) {
    int scale = Float8Pages.scale(vector);
    assertThat(pages.bytes[pages.scaleAt(slot, head)])
        .as("scale of %s", Arrays.toString(vector))
        .isEqualTo((byte) scale);
    for (int i = 0; i < vector.length; i++) {
      assertThat(pages.bytes[pages.codeAt(slot, head, i)])
          .as("code of %s with scale %d", vector[i], scale)
          .isEqualTo(Float8Pages.code(vector[i], scale));
    }
  }

  /** Each row sees one key, which has a weight of 1, so the output is the value that was read. */
  @ParameterizedTest
  @ValueSource(ints = {32, 64, 96, 128, 256})
  void everyCodeIsReadAsItsValueTimesTheScaleByBothKernels(int headDim) {
    AttentionShape shape = new AttentionShape(2, 2, headDim, 0, 16, KvSpec.Type.FP8);
    int vectors = (254 + headDim - 1) / headDim * 2;
    int[] lengths = new int[vectors];
    Arrays.fill(lengths, 1);
    AttentionCase all = new AttentionCase(shape, new Random(headDim), lengths);
    for (int i = 0; i < all.values.length; i++) {
      int code = i % 254;
      float value = Float8.toFloat((byte) (code < 127 ? code : code + 1));
      all.values[i] = Bf16.of(value * Math.pow(2, i / headDim % 60 - 30));
    }
    float[] expected = Bf16.toFloats(all.values);
    for (boolean keysKernel : new boolean[] {true, false}) {
      AttentionPlanner planner =
          new AttentionPlanner(
              shape,
              GpuMode.DETERMINISTIC,
              8,
              keysKernel,
              new AttentionPlanner.Limits(vectors, 1000, 1 << 16));
      AttentionRun step = new AttentionRun(this, all, planner, new Random(2));
      for (int i = 0; i < vectors; i++) {
        step.chunk(i, 0, 1);
      }
      assertThat(positiveZeros(step.run())).containsExactly(positiveZeros(expected));
    }
  }

  private static float[] positiveZeros(float[] values) {
    for (int i = 0; i < values.length; i++) {
      values[i] += 0f;
    }
    return values;
  }

  @Test
  void aVectorThatIsNotFiniteMakesWhatReadsItNoNumber() {
    AttentionShape shape = new AttentionShape(1, 1, 64, 0, 16, KvSpec.Type.FP8);
    for (short bad : new short[] {(short) 0x7fc0, (short) 0x7f80, (short) 0xff80}) {
      for (boolean key : new boolean[] {true, false}) {
        AttentionCase all = new AttentionCase(shape, new Random(3), 40);
        (key ? all.keys : all.values)[20 * 64 + 7] = bad;
        AttentionPlanner planner =
            new AttentionPlanner(
                shape,
                GpuMode.DETERMINISTIC,
                8,
                true,
                new AttentionPlanner.Limits(4, 1000, 1 << 16));
        AttentionRun step = new AttentionRun(this, all, planner, new Random(4));
        float[] got = step.chunk(0, 39, 1).chunk(0, 19, 1).run();
        assertThat(Float.isNaN(got[7])).isTrue();
        assertThat(Float.isNaN(got[64 + 7])).as("a row before it").isFalse();
      }
    }
  }
}
