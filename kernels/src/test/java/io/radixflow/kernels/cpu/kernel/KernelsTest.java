package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.LANES;
import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;
import static io.radixflow.kernels.cpu.kernel.Kernels.QUERIES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.IntegerCase;
import io.radixflow.kernels.cpu.SyntheticTensor;
import io.radixflow.models.Float8;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each operation in native code equals plain Java bit for bit, at odd sizes. */
class KernelsTest {

  private static final int MARGIN = 3;

  private final Kernels scalar = new ScalarKernels();
  private final List<Kernels> compiled =
      NativeIsas.required().stream().map(NativeKernels::new).map(KernelProvider::of).toList();
  private final Kernels vector = compiled.get(compiled.size() - 1);
  private final SyntheticTensor.Mix random = new SyntheticTensor.Mix(5);

  private float[] floats(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (random.unit() - 0.5f) * (1 << random.below(6));
    }
    return values;
  }

  private Floats rows(int count) {
    return Floats.of(floats(count));
  }

  /** Like {@link #same}, for an operation on an array. */
  private void sameArray(float[] start, BiConsumer<Kernels, float[]> operation) {
    same(
        start,
        (kernels, all) -> {
          float[] array = all.toArray();
          operation.accept(kernels, array);
          all.put(0, array, 0, array.length);
        });
  }

  /** Runs on all kernels over copies of {@code start}; the whole arrays must be equal. */
  private void same(float[] start, BiConsumer<Kernels, Floats> operation) {
    Floats all = Floats.of(start);
    operation.accept(scalar, all);
    float[] expected = all.toArray();
    assertThat(expected).isNotEqualTo(start);
    for (Kernels kernels : compiled) {
      Floats actual = Floats.of(start);
      operation.accept(kernels, actual);
      IntegerCase.assertSameBits(actual.toArray(), expected, kernels.name());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 6, 8})
  void tilesAddTheSameChains(int rows) {
    for (int depth : new int[] {1, 7, 32, 51}) {
      Floats a = rows(MARGIN + depth * rows);
      Floats w = rows(MARGIN + depth * PANEL);
      int ldc = PANEL + 32;
      same(
          floats(MARGIN + rows * ldc),
          (kernels, c) -> kernels.tile(rows, a, MARGIN, w, MARGIN, depth, c, MARGIN, ldc));
    }
  }

  private int[] words(int count) {
    int[] words = new int[count];
    for (int i = 0; i < count; i++) {
      words[i] = random.next();
    }
    return words;
  }

  @ParameterizedTest
  @EnumSource(CodeForm.class)
  void codesUnpackAlike(CodeForm form) {
    for (int blocks : new int[] {1, 2, 5}) {
      int[] codes = words(PANEL + blocks * form.words() * PANEL);
      // What lies behind stays as it is.
      same(
          floats(blocks * CodeForm.BLOCK * PANEL + MARGIN),
          (kernels, out) -> kernels.unpackCodes(form, codes, PANEL, blocks, out));
    }
  }

  @Test
  void codesLieInWordsAsTheirFormSays() {
    int[] words = new int[8 * PANEL];
    words[PANEL + 3] = 0x80_7f_ff_01;
    words[5 * PANEL + 3] = 0x00_00_00_f0;
    words[4 * PANEL + 3] = 0x00_00_00_e0;
    Floats six = Floats.allocate(CodeForm.BLOCK * PANEL);
    Floats bytes = Floats.allocate(CodeForm.BLOCK * PANEL);
    Floats nibbles = Floats.allocate(CodeForm.BLOCK * PANEL);
    Floats signed = Floats.allocate(CodeForm.BLOCK * PANEL);
    for (Kernels kernels : new Kernels[] {scalar, vector}) {
      kernels.unpackCodes(CodeForm.BYTE, words, 0, 1, bytes);
      assertThat(columns(bytes, 4, 5, 6, 7, 20)).containsExactly(1, -1, 127, -128, -16);
      kernels.unpackCodes(CodeForm.NIBBLE, words, 0, 1, nibbles);
      assertThat(columns(nibbles, 4, 5, 6, 7, 20, 21, 22, 23))
          .containsExactly(1, 15, 15, 0, 0, 15, 7, 8);
      kernels.unpackCodes(CodeForm.SIGNED_NIBBLE, words, 0, 1, signed);
      assertThat(columns(signed, 4, 5, 6, 7, 20, 21, 22, 23))
          .containsExactly(1, -1, -1, 0, 0, -1, 7, -8);
      kernels.unpackCodes(CodeForm.SIX, words, 0, 1, six);
      assertThat(columns(six, 4, 5, 6, 7, 20, 21, 22, 23))
          .containsExactly(1 - 32, 15 - 16, 15, 0, 0 - 16, 15 - 16, 7, 8);
    }
  }

  /** Columns of lane 3. */
  private static float[] columns(Floats unpacked, int... columns) {
    float[] values = new float[columns.length];
    for (int i = 0; i < columns.length; i++) {
      values[i] = unpacked.get(columns[i] * PANEL + 3);
    }
    return values;
  }

  @ParameterizedTest
  @EnumSource(names = {"BYTE", "SIX"})
  void partsOfCodesUnpackAlikeAndMakeUpTheCodes(CodeForm form) {
    for (int blocks : new int[] {1, 2, 5}) {
      int[] codes = words(PANEL + blocks * form.words() * PANEL);
      int count = blocks * CodeForm.BLOCK * PANEL;
      Floats other = Floats.allocate(count);
      same(
          floats(count + MARGIN),
          (kernels, high) -> kernels.unpackParts(form, codes, PANEL, blocks, high, other));
      same(
          floats(count + MARGIN),
          (kernels, low) -> kernels.unpackParts(form, codes, PANEL, blocks, other, low));
      Floats whole = Floats.allocate(count);
      Floats high = Floats.allocate(count);
      Floats low = Floats.allocate(count);
      vector.unpackCodes(form, codes, PANEL, blocks, whole);
      vector.unpackParts(form, codes, PANEL, blocks, high, low);
      for (int i = 0; i < count; i++) {
        assertThat(low.get(i)).isBetween(0f, 15f);
        assertThat(high.get(i)).isBetween(-8f, 7f);
        assertThat(16 * high.get(i) + low.get(i)).isEqualTo(whole.get(i));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"16, false", "16, true", "32, false", "32, true"})
  void codesAreScaledAlike(int block, boolean minima) {
    for (int blocks : new int[] {1, 2, 5}) {
      float[] scales = floats(blocks * (minima ? 2 : 1) * PANEL);
      int depth = blocks * block;
      same(
          floats(depth * PANEL + MARGIN),
          (kernels, w) -> kernels.scaleCodes(w, scales, block, minima, depth));
    }
  }

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void scaledSumsAreAddedAlike(boolean parts, boolean minima) {
    for (int rows = 1; rows <= 8; rows++) {
      int count = rows;
      int ldc = PANEL + 5;
      float[] sums = integers(count * PANEL + MARGIN);
      Floats high = parts ? Floats.of(integers(count * PANEL + MARGIN)) : null;
      float[] scales = floats(MARGIN + 2 * PANEL);
      float[] rowScales = floats(count);
      float[] rowMinima = minima ? floats(count) : null;
      same(
          floats(MARGIN + count * ldc),
          (kernels, c) ->
              kernels.addScaled(
                  count,
                  Floats.of(sums),
                  high,
                  scales,
                  MARGIN,
                  rowScales,
                  rowMinima,
                  c,
                  MARGIN,
                  ldc));
    }
  }

  /** Sums of 24 bits, so that sixteenfold ones with others added are rounded. */
  private float[] integers(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = random.next() >> 8;
    }
    return values;
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

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 15, 16, 17, 31, 48, 63, 576})
  void rowOperationsAgree(int n) {
    Floats x = rows(MARGIN + n);
    Floats gain = rows(n);
    float[] lanes = new float[LANES];
    float squares = scalar.sumOfSquares(x, MARGIN, n, lanes);
    for (Kernels kernels : compiled) {
      assertThat(kernels.sumOfSquares(x, MARGIN, n, lanes)).isEqualTo(squares);
    }
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
        (kernels, out) -> kernels.normalGlu(x, MARGIN, gain, 0, out, MARGIN, n));
    same(
        floats(MARGIN + n + 2),
        (kernels, out) -> kernels.clampedSwiglu(x, MARGIN, gain, 0, 0.4f, out, MARGIN, n));
    same(floats(MARGIN + n + 2), (kernels, y) -> kernels.softCap(y, MARGIN, n, 3f));
  }

  private static final float[] SPECIAL = {
    0f,
    -0f,
    Float.NaN,
    Float.POSITIVE_INFINITY,
    Float.NEGATIVE_INFINITY,
    Float.MIN_VALUE,
    -Float.MIN_VALUE,
    Float.MAX_VALUE,
    -Float.MAX_VALUE,
    88f,
    -87f,
    89f,
    -88f,
    7f,
    -7f,
    1e-30f
  };

  @Test
  void activationsOfZerosInfinitiesAndNanAgree() {
    Floats special = Floats.of(SPECIAL);
    Floats ups = Floats.allocate(SPECIAL.length);
    for (float up : SPECIAL) {
      ups.fill(0, SPECIAL.length, up);
      int n = SPECIAL.length;
      same(new float[n], (k, out) -> k.swiglu(special, 0, ups, 0, out, 0, n));
      same(new float[n], (k, out) -> k.geglu(special, 0, ups, 0, out, 0, n));
      same(new float[n], (k, out) -> k.normalGlu(special, 0, ups, 0, out, 0, n));
      same(new float[n], (k, out) -> k.clampedSwiglu(special, 0, ups, 0, 7f, out, 0, n));
    }
    same(SPECIAL, (kernels, x) -> kernels.softCap(x, 0, x.length(), 30f));
  }

  /** The softmax of queries 1 to 4, whose windows begin and end in different pages. */
  private void softmaxAgrees(float[] scores, float cap, Floats sinks) {
    int[] from = {0, 0, 3, 16, 37, 0};
    int[] to = {1, 1, 16, 41, 48, 1};
    int weights = scores.length;
    float[] lanes = new float[LANES];
    same(
        Arrays.copyOf(scores, weights + from.length),
        (kernels, all) -> {
          float[] factors = new float[from.length];
          kernels.softmax(all, 48, from, to, 1, 5, cap, sinks, MARGIN, 3, factors, lanes);
          all.put(weights, factors, 0, factors.length);
        });
  }

  @ParameterizedTest
  @ValueSource(floats = {0, 3})
  void softmaxesAgree(float cap) {
    softmaxAgrees(floats(6 * 48), cap, null);
    softmaxAgrees(floats(6 * 48), cap, rows(MARGIN + 3));
  }

  @Test
  void softmaxesOfZerosInfinitiesAndNanAgree() {
    float[] scores = new float[6 * 48];
    for (float rest : new float[] {0f, -0f, -7f}) {
      for (float special : SPECIAL) {
        for (int at : new int[] {0, 4, 15, 38}) {
          Arrays.fill(scores, rest);
          for (int query = 0; query < 6; query++) {
            scores[query * 48 + at] = special;
          }
          Floats sinks = Floats.allocate(MARGIN + 3);
          sinks.fill(0, MARGIN + 3, special);
          softmaxAgrees(scores, 0, null);
          softmaxAgrees(scores, 0, sinks);
        }
      }
    }
  }

  @Test
  void sizesBeyondTheFloatsAreRefused() {
    Floats x = Floats.allocate(16);
    float[] lanes = new float[LANES];
    for (Kernels kernels : compiled) {
      assertThatThrownBy(() -> kernels.add(x, 1, x, 0, 16))
          .isInstanceOf(IndexOutOfBoundsException.class);
      int[] from = {0};
      float[] factors = {0};
      assertThatThrownBy(
              () ->
                  kernels.softmax(x, 16, from, new int[] {17}, 0, 1, 0, null, 0, 1, factors, lanes))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(
              () ->
                  kernels.softmax(x, 16, from, new int[] {16}, 0, 2, 0, null, 0, 1, factors, lanes))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> kernels.tile(2, x, 0, x, 0, 1, x, 0, PANEL))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void oneRowTimesNibblesSumsAlike() {
    for (CodeForm form : new CodeForm[] {CodeForm.NIBBLE, CodeForm.SIGNED_NIBBLE}) {
      for (int blocks : new int[] {1, 2, 5}) {
        int[] codes = words(PANEL + blocks * form.words() * PANEL);
        Floats x = Floats.allocate(blocks * CodeForm.BLOCK);
        for (int i = 0; i < x.length(); i++) {
          x.set(i, i % 7 == 0 ? 32767 : (short) random.next());
        }
        sameArray(
            new float[blocks * PANEL],
            (kernels, sums) -> kernels.nibblesTimesRow(form, codes, PANEL, blocks, x, sums));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"BYTE, 16", "BYTE, 32", "SIX, 16", "SIX, 32"})
  void oneRowTimesCodesSumsAlikeUpToTheLargestSum(CodeForm form, int block) {
    for (int blocks : new int[] {2, 4, 10}) {
      int[] codes = words(PANEL + blocks * block / CodeForm.BLOCK * form.words() * PANEL);
      int[] x = new int[blocks * block];
      for (int i = 0; i < x.length; i++) {
        x[i] = (short) random.next();
      }
      Arrays.fill(x, 0, block, 32767);
      int least = form == CodeForm.BYTE ? 0x80808080 : 0;
      Arrays.fill(codes, PANEL, PANEL + form.words() * PANEL, least);
      if (form == CodeForm.SIX) {
        Arrays.fill(codes, PANEL + 4 * PANEL, PANEL + 6 * PANEL, 0xaaaaaaaa);
      }
      float[] sums = new float[blocks * PANEL];
      sameArray(
          sums, (kernels, out) -> kernels.codesTimesRow(form, codes, PANEL, block, blocks, x, out));
      vector.codesTimesRow(form, codes, PANEL, block, blocks, x, sums);
      assertThat(sums[0]).isEqualTo((form == CodeForm.BYTE ? -128f : -32f) * 32767 * block);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 8, 24, 512})
  void pagesAreTurnedRoundAlikeNativelyToo(int elements) {
    float[] page = floats(MARGIN + elements * LANES);
    float[] expected = new float[elements * LANES];
    for (int d = 0; d < elements; d++) {
      for (int token = 0; token < LANES; token++) {
        expected[token * elements + d] = page[MARGIN + d * LANES + token];
      }
    }
    for (Kernels kernels : withNative()) {
      float[] turned = new float[expected.length];
      kernels.transpose(page, MARGIN, elements, turned);
      assertThat(turned).isEqualTo(expected);
    }
  }

  private List<Kernels> withNative() {
    List<Kernels> all = new ArrayList<>(compiled);
    all.add(scalar);
    return all;
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
    Floats weights = rows(MARGIN + QUERIES * stride);
    for (int tokens : new int[] {1, 7, 16}) {
      sameArray(
          floats(MARGIN + QUERIES * headDim),
          (kernels, out) ->
              kernels.values(weights, MARGIN, stride, page, MARGIN, headDim, tokens, out, MARGIN));
      sameArray(
          floats(MARGIN + headDim),
          (kernels, out) ->
              kernels.valuesOne(weights, MARGIN, page, MARGIN, headDim, tokens, out, MARGIN));
    }
  }
}
