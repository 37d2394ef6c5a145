package io.radixflow.kernels.cpu.kernel;

/**
 * The inner loops of the CPU backend. All implementations round alike, bit for bit, at every vector
 * width:
 *
 * <ul>
 *   <li>an output of a matrix product is one chain of fused multiply-adds, in order: over k, or
 *       over blocks of k whose products are summed as integers;
 *   <li>sums over a row use {@value #LANES} logical lanes (element i belongs to lane i mod {@value
 *       #LANES}) and the tree of {@link LaneSum};
 *   <li>the exponential is the polynomial of {@link Exponential}.
 * </ul>
 *
 * <p>Panels hold {@value #PANEL} rows of a matrix, interleaved: element (k, row) of an unpacked
 * panel is at {@code k * PANEL + row}. Implementations are stateless and safe for many threads.
 */
public interface Kernels {

  /** Rows of a weight panel. */
  int PANEL = 32;

  /** Logical lanes of a sum over a row; also the tokens of a KV page. */
  int LANES = 16;

  /** Query heads that attention treats at once. */
  int QUERIES = 4;

  /** The provider's name: {@code scalar} or {@code vector}. */
  String name();

  /** Bits of a vector; 32 for scalar code. */
  int vectorBits();

  /**
   * Adds the product of {@code rows} activation rows with one unpacked panel to {@code c}.
   *
   * @param rows 1, 2, 4, 6 or 8
   * @param a activations; element (row, k) at {@code ao + k * rows + row}
   * @param w unpacked panel from {@code wo}
   * @param depth length of k
   * @param c element (row, output) at {@code co + row * ldc + output}, {@value #PANEL} outputs
   */
  void tile(int rows, float[] a, int ao, float[] w, int wo, int depth, float[] c, int co, int ldc);

  /**
   * Unpacks blocks of codes as floats: element (k, lane) at {@code out[k * PANEL + lane]}.
   *
   * @param codes {@code int[block][words of the form][PANEL]} from {@code co}
   */
  void unpackCodes(CodeForm form, int[] codes, int co, int blocks, float[] out);

  /**
   * Unpacks blocks of codes in two parts: {@code code = 16 * high + low}, low from 0 to 15.
   *
   * @param form {@link CodeForm#BYTE} or {@link CodeForm#SIX}
   */
  void unpackParts(CodeForm form, int[] codes, int co, int blocks, float[] high, float[] low);

  /**
   * Sums of products of one row with blocks of nibbles, exact: {@code sums[block * PANEL + lane]}.
   *
   * @param form one of the two forms of nibbles
   * @param codes as in {@link #unpackCodes}
   * @param x integers of 16 bits, from 0
   */
  void nibblesTimesRow(CodeForm form, int[] codes, int co, int blocks, float[] x, float[] sums);

  /**
   * Sums of products of one row with the codes of each scale, rounded once: {@code sums[block *
   * PANEL + lane]}.
   *
   * @param form {@link CodeForm#BYTE} or {@link CodeForm#SIX}
   * @param block columns of a scale: 16 or 32
   * @param blocks how many scales
   * @param x integers of 16 bits, from 0
   */
  void codesTimesRow(
      CodeForm form, int[] codes, int co, int block, int blocks, int[] x, float[] sums);

  /**
   * Makes weights of codes in place: {@code w = w * scale}, or {@code fma(w, scale, minimum)}.
   *
   * @param scales {@code float[block][scales, minima][PANEL]} from 0
   * @param block columns of a scale
   * @param depth columns
   */
  void scaleCodes(float[] w, float[] scales, int block, boolean minima, int depth);

  /**
   * Adds the sums of products of one scale's columns to outputs: {@code c = fma(scale * rowScale,
   * sum, c)}, then with minima {@code c = fma(minimum, rowMinimum, c)}.
   *
   * @param sums element (row, lane) at {@code row * PANEL + lane}; may be overwritten
   * @param high added to the sums sixteenfold, rounded once; or null
   * @param scales scales of the panel's lanes from {@code so}, minima {@value #PANEL} further
   * @param rowScales one a row
   * @param rowMinima one a row; null without minima
   * @param c element (row, lane) at {@code co + row * ldc + lane}
   */
  void addScaled(
      int rows,
      float[] sums,
      float[] high,
      float[] scales,
      int so,
      float[] rowScales,
      float[] rowMinima,
      float[] c,
      int co,
      int ldc);

  /**
   * Unpacks 8-bit floats (E4M3) that are numbers: {@code out = code * scale}.
   *
   * @param codes byte[k][PANEL] from {@code co}
   * @param scales float[block][PANEL] from {@code so}
   * @param block k of one scale
   * @param blocks how many blocks of k
   */
  void unpackFloat8(
      byte[] codes, int co, float[] scales, int so, int block, int blocks, float[] out);

  /** Widens binary16 to float, exactly; {@code count} is a multiple of {@value #LANES}. */
  void widenHalf(short[] source, int so, int count, float[] out, int oo);

  /** Most rows of {@link #multiplyHalves}; 0 where tiles of unpacked weights are as fast. */
  default int rowsOfHalves() {
    return 0;
  }

  /**
   * Adds a panel of 16-bit floats times some rows to {@code c}, with the sums of {@link #tile}.
   *
   * @param values element (k, output) at {@code from + k * PANEL + output}
   * @param bfloat16 whether they are bfloat16
   * @param x activations; element (row, k) at {@code row * xs + k}
   * @param c element (row, output) at {@code co + row * ldc + output}
   */
  default void multiplyHalves(
      short[] values,
      int from,
      boolean bfloat16,
      int columns,
      float[] x,
      int xs,
      int rows,
      float[] c,
      int co,
      int ldc) {
    throw new UnsupportedOperationException(name());
  }

  /**
   * Widens 8-bit floats (E4M3) that are numbers, exactly; {@code count} is a multiple of {@value
   * #LANES}.
   */
  void widenFloat8(byte[] source, int so, int count, float[] out, int oo);

  /** Widens bfloat16 to float, exactly; {@code count} is a multiple of {@value #LANES}. */
  void widenBfloat16(short[] source, int so, int count, float[] out, int oo);

  /**
   * Transposes {@code elements} elements of the tokens of a page: {@code [element][token]} from
   * {@code from} to {@code [token][element]} from 0.
   */
  default void transpose(float[] in, int from, int elements, float[] out) {
    for (int d = 0; d < elements; d++) {
      for (int token = 0; token < LANES; token++) {
        out[token * elements + d] = in[from + d * LANES + token];
      }
    }
  }

  /**
   * Sum of squares, by lanes.
   *
   * @param lanes {@value #LANES} floats of scratch
   */
  float sumOfSquares(float[] x, int xo, int n, float[] lanes);

  /** {@code out = (x * factor) * gain}. */
  void scale(float[] x, int xo, float factor, float[] gain, float[] out, int oo, int n);

  /** {@code y += x}. */
  void add(float[] x, int xo, float[] y, int yo, int n);

  /** {@code out = gate / (1 + exp(-gate)) * up}. */
  void swiglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n);

  /**
   * {@code out = gelu(gate) * up}, by {@code gelu(g) = g / (1 + exp(-2u))}, where u is the argument
   * of tanh.
   */
  void geglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n);

  /** {@code out = gate * Φ(gate) * up}, with the normal distribution Φ by {@link NormalTail}. */
  void normalGlu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n);

  /**
   * {@code out = g / (1 + exp(-1.702 g)) * (u + 1)}, with g at most and the absolute value of u at
   * most {@code limit}.
   */
  void clampedSwiglu(
      float[] gate, int go, float[] up, int uo, float limit, float[] out, int oo, int n);

  /** {@code x = cap * tanh(x / cap)}. */
  void softCap(float[] x, int xo, int n, float cap);

  /** The exponential of one value, as the other kernels compute it. */
  default float exp(float value) {
    return Exponential.exp(value);
  }

  /**
   * Scores of one page for {@value #QUERIES} queries: {@code out[q][token] = scale * chain over d
   * of K[d][token] * query[d][q]}.
   *
   * @param query queries, interleaved: element (d, q) at {@code qo + d * QUERIES + q}
   * @param keys one head of a page: element (d, token) at {@code ko + d * LANES + token}
   * @param out element (q, token) at {@code oo + q * stride + token}
   */
  void scores(
      float[] query,
      int qo,
      float[] keys,
      int ko,
      int headDim,
      float scale,
      float[] out,
      int oo,
      int stride);

  /** The largest of {@code n} values; NaN if there is one. */
  float max(float[] x, int xo, int n, float[] lanes);

  /**
   * {@code x = exp(x - max)} for {@code n} values, zero in the rest of the last {@value #LANES};
   * returns the sum, by lanes.
   */
  float exponentials(float[] x, int xo, int n, float max, float[] lanes);

  /**
   * Adds weighted values of consecutive tokens for {@value #QUERIES} queries: {@code out[q][d] =
   * chain over tokens of V[token][d] * weight[q][token]}.
   *
   * @param weights element (q, token) at {@code wo + q * ws + token}
   * @param values element (token, d) at {@code vo + token * headDim + d}
   * @param tokens how many tokens
   * @param out element (q, d) at {@code oo + q * headDim + d}
   */
  void values(
      float[] weights,
      int wo,
      int ws,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo);

  /** The same as {@link #values} for one query. */
  void valuesOne(
      float[] weights,
      int wo,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo);
}
