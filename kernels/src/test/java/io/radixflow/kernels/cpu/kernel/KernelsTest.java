package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.LANES;
import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;
import static io.radixflow.kernels.cpu.kernel.Kernels.QUERIES;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.SyntheticTensor;
import io.radixflow.kernels.model.Float8;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each operation on the vector kernels equals the scalar kernels bit for bit, at odd sizes. */
class KernelsTest {

  private static final int MARGIN = 3;

  private final Kernels scalar = new ScalarKernels();
  private final Kernels vector = KernelProvider.vector().orElseThrow();
  private final SyntheticTensor.Mix random = new SyntheticTensor.Mix(5);

  private float[] floats(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (random.unit() - 0.5f) * (1 << random.below(6));
    }
    return values;
  }

  /** Runs on both kernels over copies of {@code start}; the whole arrays must be equal. */
  private void same(float[] start, BiConsumer<Kernels, float[]> operation) {
    float[] expected = start.clone();
    float[] actual = start.clone();
    operation.accept(scalar, expected);
    operation.accept(vector, actual);
    assertThat(actual).isEqualTo(expected);
    assertThat(actual).isNotEqualTo(start);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 6, 8})
  void tilesAddTheSameChains(int rows) {
    for (int depth : new int[] {1, 7, 32, 51}) {
      float[] a = floats(MARGIN + depth * rows);
      float[] w = floats(MARGIN + depth * PANEL);
      int ldc = PANEL + 32;
      same(
          floats(MARGIN + rows * ldc),
          (kernels, c) -> kernels.tile(rows, a, MARGIN, w, MARGIN, depth, c, MARGIN, ldc));
    }
  }

  @Test
  void nibblesUnpackAndMultiplyAlike() {
    for (int blocks : new int[] {1, 2, 5}) {
      int[] codes = new int[PANEL + blocks * 4 * PANEL];
      for (int i = 0; i < codes.length; i++) {
        codes[i] = random.next();
      }
      float[] scales = floats(PANEL + blocks * 2 * PANEL);
      float[] x = floats(blocks * 32);
      float[] unpacked = new float[blocks * 32 * PANEL];
      same(
          unpacked,
          (kernels, out) -> kernels.unpackNibbles(codes, PANEL, scales, PANEL, blocks * 4, out));
      same(
          floats(MARGIN + PANEL),
          (kernels, out) ->
              kernels.nibblesTimesVector(codes, PANEL, scales, PANEL, blocks * 4, x, out, MARGIN));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 8})
  void fewRowsTimesPackedPanelsRoundLikeUnpackingAndTile(int rows) {
    int depth = 96;
    int[] codes = new int[PANEL + depth / 8 * PANEL];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = random.next();
    }
    byte[] bytes = bytes(PANEL + depth * PANEL);
    float[] scales = floats(PANEL + depth / 16 * 2 * PANEL);
    float[] a = floats(depth * rows);
    float[] start = floats(MARGIN + rows * 40);
    float[] unpacked = new float[depth * PANEL];
    for (Kernels kernels : new Kernels[] {scalar, vector}) {
      float[] expected = start.clone();
      kernels.unpackNibbles(codes, PANEL, scales, PANEL, depth / 8, unpacked);
      kernels.tile(rows, a, 0, unpacked, 0, depth, expected, MARGIN, 40);
      float[] nibbles = start.clone();
      kernels.nibblesTimesRows(rows, codes, PANEL, scales, PANEL, depth, a, nibbles, MARGIN, 40);
      assertThat(nibbles).isEqualTo(expected);
      for (int block : new int[] {16, 32}) {
        expected = start.clone();
        kernels.unpackBytes(bytes, PANEL, scales, PANEL, block, depth / block, unpacked);
        kernels.tile(rows, a, 0, unpacked, 0, depth, expected, MARGIN, 40);
        float[] actual = start.clone();
        kernels.bytesTimesRows(
            rows, bytes, PANEL, scales, PANEL, block, depth, a, actual, MARGIN, 40);
        assertThat(actual).isEqualTo(expected);
      }
    }
  }

  @Test
  void theOneRowKernelRoundsLikeUnpackingAndTile() {
    int[] codes = new int[12 * PANEL];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = random.next();
    }
    float[] scales = floats(3 * 2 * PANEL);
    float[] x = floats(96);
    float[] unpacked = new float[96 * PANEL];
    for (Kernels kernels : new Kernels[] {scalar, vector}) {
      float[] fused = new float[PANEL];
      float[] tiled = new float[PANEL];
      kernels.nibblesTimesVector(codes, 0, scales, 0, 12, x, fused, 0);
      kernels.unpackNibbles(codes, 0, scales, 0, 12, unpacked);
      kernels.tile(1, x, 0, unpacked, 0, 96, tiled, 0, PANEL);
      assertThat(fused).isEqualTo(tiled);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 32})
  void bytesUnpackAndMultiplyAlike(int block) {
    for (int blocks : new int[] {1, 2, 5}) {
      byte[] codes = bytes(PANEL + blocks * block * PANEL);
      float[] scales = floats(PANEL + blocks * PANEL);
      float[] x = floats(blocks * block);
      same(
          new float[blocks * block * PANEL],
          (kernels, out) -> kernels.unpackBytes(codes, PANEL, scales, PANEL, block, blocks, out));
      same(
          floats(MARGIN + PANEL),
          (kernels, out) ->
              kernels.bytesTimesVector(codes, PANEL, scales, PANEL, block, blocks, x, out, MARGIN));
    }
  }

  @Test
  void eightBitFloatsUnpackAlike() {
    byte[] codes = new byte[PANEL + 256];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = Float8.isNaN((byte) i) ? 0 : (byte) i;
    }
    float[] scales = floats(PANEL + PANEL / 4);
    same(
        new float[256], (kernels, out) -> kernels.unpackFloat8(codes, PANEL, scales, 0, 8, 1, out));
  }

  @Test
  void bytesWithMinimaUnpackAlike() {
    byte[] codes = bytes(PANEL + 3 * 32 * PANEL);
    float[] scales = floats(PANEL + 6 * 2 * PANEL);
    for (int block = 16; block <= 32; block += 16) {
      int columns = block;
      int blocks = 96 / block;
      same(
          new float[3 * 32 * PANEL],
          (kernels, out) ->
              kernels.unpackBytesWithMinimum(codes, PANEL, scales, PANEL, columns, blocks, out));
    }
  }

  private byte[] bytes(int count) {
    byte[] values = new byte[count];
    for (int i = 0; i < count; i++) {
      values[i] = (byte) random.next();
    }
    return values;
  }

  @Test
  void everyHalfWidensAlikeAndExactly() {
    short[] halves = new short[1 << 16];
    for (int i = 0; i < halves.length; i++) {
      halves[i] = (short) i;
    }
    float[] wide = new float[halves.length];
    vector.widenHalf(halves, 0, halves.length, wide, 0);
    float[] expected = new float[halves.length];
    scalar.widenHalf(halves, 0, halves.length, expected, 0);
    for (int i = 0; i < halves.length; i++) {
      assertThat(Float.floatToIntBits(wide[i])).isEqualTo(Float.floatToIntBits(expected[i]));
    }
    vector.widenBrain(halves, 0, halves.length, wide, 0);
    scalar.widenBrain(halves, 0, halves.length, expected, 0);
    for (int i = 0; i < halves.length; i++) {
      assertThat(Float.floatToIntBits(wide[i])).isEqualTo(Float.floatToIntBits(expected[i]));
    }
  }

  @Test
  void everyFloat8ThatIsANumberWidensAlikeFromEveryAlignedPlace() {
    byte[] codes = new byte[512];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = (byte) ((i & 0x7f) == 0x7f ? 0 : i);
    }
    for (int from = 0; from <= 32; from += 16) {
      float[] wide = new float[codes.length];
      float[] expected = new float[codes.length];
      vector.widenFloat8(codes, from, 256, wide, 16);
      scalar.widenFloat8(codes, from, 256, expected, 16);
      for (int i = 0; i < wide.length; i++) {
        assertThat(Float.floatToIntBits(wide[i])).isEqualTo(Float.floatToIntBits(expected[i]));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 15, 16, 17, 31, 48, 63, 576})
  void rowOperationsAgree(int n) {
    float[] x = floats(MARGIN + n);
    float[] gain = floats(n);
    float[] lanes = new float[LANES];
    float squares = scalar.sumOfSquares(x, MARGIN, n, lanes);
    assertThat(vector.sumOfSquares(x, MARGIN, n, lanes)).isEqualTo(squares);
    float max = scalar.max(x, MARGIN, n, lanes);
    assertThat(vector.max(x, MARGIN, n, lanes)).isEqualTo(max);
    same(
        floats(MARGIN + n + 2),
        (kernels, out) -> kernels.scale(x, MARGIN, 1.7f, gain, out, MARGIN, n));
    same(floats(MARGIN + n + 2), (kernels, y) -> kernels.add(x, MARGIN, y, MARGIN, n));
    same(
        floats(MARGIN + n + 2),
        (kernels, out) -> kernels.swiglu(x, MARGIN, gain, 0, out, MARGIN, n));
    same(
        floats(MARGIN + n + 2),
        (kernels, out) -> kernels.geglu(x, MARGIN, gain, 0, out, MARGIN, n));
    same(
        floats(MARGIN + n + 2),
        (kernels, out) -> kernels.clampedSwiglu(x, MARGIN, gain, 0, 0.4f, out, MARGIN, n));
    same(floats(MARGIN + n + 2), (kernels, y) -> kernels.softCap(y, MARGIN, n, 3f));
    float[] sums = new float[2];
    same(
        floats(MARGIN + n + LANES),
        (kernels, scores) ->
            sums[kernels == scalar ? 0 : 1] =
                kernels.exponentials(scores, MARGIN, n, max + 40, lanes));
    assertThat(sums[1]).isEqualTo(sums[0]);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 10, 16, 48, 64, 80, 128})
  void attentionOfOnePageAgrees(int headDim) {
    float[] query = floats(MARGIN + headDim * QUERIES);
    float[] page = floats(MARGIN + headDim * LANES);
    int stride = 2 * LANES;
    same(
        new float[MARGIN + QUERIES * stride],
        (kernels, out) ->
            kernels.scores(query, MARGIN, page, MARGIN, headDim, 0.3f, out, MARGIN, stride));
    float[] weights = floats(MARGIN + QUERIES * stride);
    for (int tokens : new int[] {1, 7, 16}) {
      same(
          floats(MARGIN + QUERIES * headDim),
          (kernels, out) ->
              kernels.values(weights, MARGIN, stride, page, MARGIN, headDim, tokens, out, MARGIN));
      same(
          floats(MARGIN + headDim),
          (kernels, out) ->
              kernels.valuesOne(weights, MARGIN, page, MARGIN, headDim, tokens, out, MARGIN));
    }
  }
}
