package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cuda.driver.KernelTest;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.Attention;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AttentionKernelTest extends KernelTest {

  private static final int MANY = 1 << 16;
  private static final int[] HEAD_DIMS = {64, 80, 96, 128};
  private static final Attention.Scores PLAIN = new Attention.Scores(0.1f, 0, false, null);
  private static final Attention.Scores CAPPED = new Attention.Scores(0.2f, 1.5f, false, null);
  private static final Attention.Scores SINKS = new Attention.Scores(0.15f, 0, true, null);
  private static final Attention.Scores BOTH = new Attention.Scores(0.15f, 3, true, null);

  @ParameterizedTest
  @CsvSource({
    "16, 2, 2, 16, BF16",
    "32, 1, 3, 16, BF16",
    "256, 1, 4, 16, BF16",
    "64, 1, 2, 16, BF16",
    "64, 2, 3, 32, BF16",
    "64, 1, 16, 16, BF16",
    "80, 2, 1, 16, BF16",
    "80, 1, 5, 32, BF16",
    "96, 1, 8, 16, BF16",
    "96, 1, 3, 64, BF16",
    "128, 2, 4, 16, BF16",
    "128, 1, 7, 32, BF16",
    "128, 1, 16, 16, BF16",
    "16, 2, 2, 16, FP8",
    "32, 3, 3, 32, FP8",
    "64, 2, 3, 32, FP8",
    "80, 2, 5, 16, FP8",
    "96, 1, 3, 64, FP8",
    "128, 2, 4, 16, FP8",
    "256, 2, 2, 16, FP8",
  })
  void everyRowIsAtMostTwiceAsFarOffAsPlainBf16(
      int headDim, int kvHeads, int group, int pageTokens, KvSpec.Type type) {
    AttentionShape shape =
        new AttentionShape(kvHeads * group, kvHeads, headDim, 0, pageTokens, type);
    AttentionCase all = new AttentionCase(shape, new Random(headDim), 1, 33, 150, 97, 64);
    int[][] chunks = {{0, 0, 1}, {1, 30, 3}, {2, 149, 1}, {3, 64, 33}, {4, 0, 64}};
    List<Closeness> expected =
        Arrays.stream(chunks).map(chunk -> all.expected(chunk[0], chunk[1], chunk[2])).toList();
    for (GpuMode mode : GpuMode.values()) {
      for (int blocks : new int[] {1, 12, 1000}) {
        for (boolean keysKernel : new boolean[] {true, false}) {
          AttentionPlanner planner =
              new AttentionPlanner(
                  shape, mode, blocks, keysKernel, new AttentionPlanner.Limits(8, 1000, MANY), 32);
          AttentionRun step = new AttentionRun(this, all, planner, new Random(blocks));
          for (int[] chunk : chunks) {
            step.chunk(chunk[0], chunk[1], chunk[2]);
          }
          float[] got = step.run();
          int row = 0;
          for (int i = 0; i < chunks.length; i++) {
            expected
                .get(i)
                .check(
                    rows(shape, got, row, chunks[i][2]),
                    mode + ", " + blocks + " blocks, chunk " + Arrays.toString(chunks[i]));
            row += chunks[i][2];
          }
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
  void everyGroupSizeRunsThroughBothKernelsForDecodeAndExtendRows(int group) {
    AttentionShape shape = new AttentionShape(2 * group, 2, HEAD_DIMS[group % 4], 16);
    AttentionCase all = new AttentionCase(shape, new Random(group), 139, 41);
    int[][] chunks = {{0, 138, 1}, {1, 24, 17}};
    for (GpuMode mode : GpuMode.values()) {
      for (boolean keysKernel : new boolean[] {true, false}) {
        AttentionPlanner planner =
            new AttentionPlanner(
                shape, mode, 5, keysKernel, new AttentionPlanner.Limits(8, 1000, MANY));
        AttentionRun step = new AttentionRun(this, all, planner, new Random(group));
        for (int[] chunk : chunks) {
          step.chunk(chunk[0], chunk[1], chunk[2]);
        }
        float[] got = step.run();
        int row = 0;
        for (int[] chunk : chunks) {
          all.expected(chunk[0], chunk[1], chunk[2])
              .check(rows(shape, got, row, chunk[2]), mode + ", chunk " + Arrays.toString(chunk));
          row += chunk[2];
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "64, 3, 16, BF16",
    "80, 1, 32, BF16",
    "96, 2, 16, BF16",
    "128, 4, 16, BF16",
    "64, 3, 16, FP8",
    "80, 2, 32, FP8"
  })
  void inDeterministicModeARowHasTheSameBitsInEveryChunkBatchAndPage(
      int headDim, int group, int pageTokens, KvSpec.Type type) {
    AttentionShape shape = new AttentionShape(group, 1, headDim, 0, pageTokens, type);
    AttentionCase all = new AttentionCase(shape, new Random(5), 296, 130);
    all.cancel();
    float[] whole = deterministic(shape, all, 1000, 1).chunk(0, 0, 296).run();
    assertThat(share(rows(shape, whole, 295, 1), 0)).as("zero, but for rounding").isLessThan(0.2);

    for (int blocks : new int[] {1, 40, 1000}) {
      Random random = new Random(blocks);
      for (int at = 0; at < 296; ) {
        int rows = Math.min(296 - at, new int[] {1, 1, 4, 7, 70}[random.nextInt(5)]);
        AttentionRun step = deterministic(shape, all, blocks, at);
        int before = random.nextInt(3);
        for (int i = 0; i < before; i++) {
          step.chunk(1, 40 * i, 1 + 10 * i);
        }
        float[] got = step.chunk(0, at, rows).chunk(1, 129, 1).run();
        int skipped = before == 0 ? 0 : before == 1 ? 1 : 12;
        assertThat(Arrays.mismatch(rows(shape, got, skipped, rows), rows(shape, whole, at, rows)))
            .as("first difference of rows %d to %d with %d blocks", at, at + rows - 1, blocks)
            .isEqualTo(-1);
        at += rows;
      }
    }
  }

  static Stream<Arguments> scores() {
    return Stream.of(
        Arguments.of(64, PLAIN, 19, KvSpec.Type.BF16),
        Arguments.of(64, BOTH, 19, KvSpec.Type.FP8),
        Arguments.of(32, SINKS, 0, KvSpec.Type.BF16),
        Arguments.of(64, SINKS, 128, KvSpec.Type.BF16),
        Arguments.of(16, CAPPED, 0, KvSpec.Type.BF16),
        Arguments.of(256, CAPPED, 40, KvSpec.Type.BF16),
        Arguments.of(128, BOTH, 1, KvSpec.Type.BF16),
        Arguments.of(80, BOTH, 200, KvSpec.Type.BF16));
  }

  @ParameterizedTest
  @MethodSource("scores")
  void windowsCapsAndSinksGiveWhatTheySayWithTheSameBitsInEveryChunk(
      int headDim, Attention.Scores scores, int window, KvSpec.Type type) {
    AttentionShape shape = new AttentionShape(6, 2, headDim, 0, 16, type);
    AttentionCase all = new AttentionCase(shape, scores, window, new Random(headDim), 330, 75);
    float[] whole = deterministic(shape, all, 1000, 1).chunk(0, 0, 330).run();
    all.expected(0, 0, 330).check(whole, scores + ", window " + window);
    for (int blocks : new int[] {1, 12, 1000}) {
      for (int[] chunk : new int[][] {{329, 1}, {0, 1}, {120, 40}, {255, 3}}) {
        float[] got =
            deterministic(shape, all, blocks, blocks)
                .chunk(0, chunk[0], chunk[1])
                .chunk(1, 70, 5)
                .run();
        assertThat(
                Arrays.mismatch(
                    rows(shape, got, 0, chunk[1]), rows(shape, whole, chunk[0], chunk[1])))
            .as("first difference of chunk %s with %d blocks", Arrays.toString(chunk), blocks)
            .isEqualTo(-1);
        float[] quick = fast(shape, all, blocks).chunk(0, chunk[0], chunk[1]).run();
        all.expected(0, chunk[0], chunk[1]).check(quick, "fast, " + Arrays.toString(chunk));
      }
    }
  }

  @Test
  void inFastModeTilesMayChangeTheLastBits() {
    AttentionShape shape = new AttentionShape(4, 1, 64, 16);
    AttentionCase all = new AttentionCase(shape, new Random(6), 592);
    all.cancel();

    float[] few = fast(shape, all, 1).chunk(0, 591, 1).run();
    float[] many = fast(shape, all, 3).chunk(0, 591, 1).run();

    assertThat(few).isNotEqualTo(many);
  }

  private AttentionRun deterministic(
      AttentionShape shape, AttentionCase all, int blocks, int seed) {
    AttentionPlanner planner =
        new AttentionPlanner(
            shape,
            GpuMode.DETERMINISTIC,
            blocks,
            seed % 7 != 3,
            new AttentionPlanner.Limits(8, 1000, MANY));
    return new AttentionRun(this, all, planner, new Random(seed));
  }

  private AttentionRun fast(AttentionShape shape, AttentionCase all, int blocks) {
    AttentionPlanner planner =
        new AttentionPlanner(
            shape, GpuMode.FAST, blocks, true, new AttentionPlanner.Limits(8, 1000, MANY));
    return new AttentionRun(this, all, planner, new Random(blocks));
  }

  private static float[] rows(AttentionShape shape, float[] all, int first, int rows) {
    int width = shape.heads() * shape.headDim();
    return Arrays.copyOfRange(all, first * width, (first + rows) * width);
  }

  private static double share(float[] values, float of) {
    int count = 0;
    for (float value : values) {
      count += value == of ? 1 : 0;
    }
    return (double) count / values.length;
  }
}
