package io.radixflow.kernels.cpu.kernel;

/**
 * The inner loops of the CPU backend. All implementations give the same bits at every vector width:
 *
 * <ul>
 *   <li>An output of a matrix product is one chain of fused multiply-adds, in order: over k, or
 *       over blocks of k whose products are summed as integers.
 *   <li>A sum over a row uses {@value #LANES} logical lanes (element i belongs to lane i mod
 *       {@value #LANES}) and the tree of {@link LaneSum}.
 *   <li>The exponential is the polynomial of {@link Exponential}.
 * </ul>
 *
 * <p>A panel contains {@value #PANEL} interleaved rows of a matrix: element (k, row) of an unpacked
 * panel is at {@code k * PANEL + row}.
 *
 * <p>A parameter {@code xo} is the index at which {@code x} begins, and the same holds for {@code
 * ao}, {@code co} and so on. Implementations are stateless and safe for many threads.
 */
public interface Kernels {

  /** Rows per weight panel. */
  int PANEL = 32;

  /** Logical lanes of a sum over a row. Also the number of tokens per KV page. */
  int LANES = 16;

  /** Query heads that attention processes at once. */
  int QUERIES = 4;

  /** The provider's name: {@code scalar} or {@code native}. */
  String name();

  /** Bits per vector; 32 for scalar code. */
  int vectorBits();

  /**
   * Adds the product of {@code rows} activation rows with one unpacked panel to {@code c}.
   *
   * @param rows 1, 2, 4, 6 or 8
   * @param a activations; element (row, k) at {@code ao + k * rows + row}
   * @param w unpacked panel from {@code wo} on
   * @param depth number of columns (k)
   * @param c element (row, output) at {@code co + row * ldc + output}for {@value #PANEL} outputs
   */
  void tile(int rows, Floats a, int ao, Floats w, int wo, int depth, Floats c, int co, int ldc);

  /**
   * Unpacks blocks of codes to floats; element (k, lane) is at {@code out[k * PANEL + lane]}.
   *
   * @param codes {@code int[block][words of the form][PANEL]} from {@code co} on
   */
  void unpackCodes(CodeForm form, int[] codes, int co, int blocks, Floats out);

  /**
   * Unpacks blocks of codes into two parts: {@code code = 16 * high + low}, with {@code low} from 0
   * to 15.
   *
   * @param form {@link CodeForm#BYTE} or {@link CodeForm#SIX}
   */
  void unpackParts(CodeForm form, int[] codes, int co, int blocks, Floats high, Floats low);

  /**
   * Multiplies one row with blocks of nibbles. The sums are exact and go to {@code sums[block *
   * PANEL + lane]}.
   *
   * @param form one of the two forms of nibbles
   * @param codes as in {@link #unpackCodes}
   * @param x the row: 16-bit integers, from index 0 on
   */
  void nibblesTimesRow(CodeForm form, int[] codes, int co, int blocks, Floats x, float[] sums);

  /**
   * Multiplies one row with the codes of each scale. The sums are rounded once and go to {@code
   * sums[block * PANEL + lane]}.
   *
   * @param form {@link CodeForm#BYTE} or {@link CodeForm#SIX}
   * @param block columns per scale: 16 or 32
   * @param blocks number of scales
   * @param x the row: 16-bit integers, from index 0 on
   */
  void codesTimesRow(
      CodeForm form, int[] codes, int co, int block, int blocks, int[] x, float[] sums);

  /**
   * Turns codes into weights in place: {@code w = w * scale}, or {@code fma(w, scale, minimum)}.
   *
   * @param scales {@code float[block][scales, minima][PANEL]} from index 0 on
   * @param block columns per scale
   * @param depth number of columns
   */
  void scaleCodes(Floats w, float[] scales, int block, boolean minima, int depth);

  /**
   * Adds the sums of one scale's columns to outputs: {@code c = fma(scale * rowScale, sum, c)};
   * then, if there are minima, {@code c = fma(minimum, rowMinimum, c)}.
   *
   * @param sums element (row, lane) at {@code row * PANEL + lane}; may be overwritten
   * @param high added to the sums 16-fold, rounded once; or null
   * @param scales scales of the panel's lanes from {@code so} on; minima follow {@value #PANEL}
   *     floats later
   * @param rowScales one per row
   * @param rowMinima one per row; null without minima
   * @param c element (row, lane) at {@code co + row * ldc + lane}
   */
  void addScaled(
      int rows,
      Floats sums,
      Floats high,
      float[] scales,
      int so,
      float[] rowScales,
      float[] rowMinima,
      Floats c,
      int co,
      int ldc);

  /**
   * Unpacks 8-bit floats (E4M3): {@code out = code * scale}. The codes must not be NaN.
   *
   * @param codes byte[k][PANEL] from {@code co} on
   * @param scales float[block][PANEL] from {@code so} on
   * @param block columns (k) per scale
   * @param blocks number of blocks
   */
  void unpackFloat8(
      byte[] codes, int co, float[] scales, int so, int block, int blocks, Floats out);

  /**
   * Transposes {@code elements} elements of a page's tokens, from {@code [element][token]} at
   * {@code from} to {@code [token][element]} at index 0.
   */
  default void transpose(float[] in, int from, int elements, float[] out) {
    for (int d = 0; d < elements; d++) {
      for (int token = 0; token < LANES; token++) {
        out[token * elements + d] = in[from + d * LANES + token];
      }
    }
  }

  /**
   * Returns the sum of squares, added in lanes.
   *
   * @param lanes {@value #LANES} floats of scratch
   */
  float sumOfSquares(Floats x, int xo, int n, float[] lanes);

  /** {@code out = (x * factor) * gain}. */
  void scale(Floats x, int xo, float factor, Floats gain, Floats out, int oo, int n);

  /** {@code y += x}. */
  void add(Floats x, int xo, Floats y, int yo, int n);

  /** {@code out = gate / (1 + exp(-gate)) * up}. */
  void swiglu(Floats gate, int go, Floats up, int uo, Floats out, int oo, int n);

  /**
   * {@code out = gelu(gate) * up}, computed as {@code gelu(g) = g / (1 + exp(-2u))}, where u is the
   * argument of tanh in the usual formula.
   */
  void geglu(Floats gate, int go, Floats up, int uo, Floats out, int oo, int n);

  /**
   * {@code out = gate * Φ(gate) * up}, where {@link NormalTail} gives the normal distribution
   * function Φ.
   */
  void normalGlu(Floats gate, int go, Floats up, int uo, Floats out, int oo, int n);

  /**
   * {@code out = g / (1 + exp(-1.702 g)) * (u + 1)}, where g is capped at {@code limit} and u is
   * clamped to {@code -limit .. limit}.
   */
  void clampedSwiglu(
      Floats gate, int go, Floats up, int uo, float limit, Floats out, int oo, int n);

  /** {@code x = cap * tanh(x / cap)}. */
  void softCap(Floats x, int xo, int n, float cap);

  /** The exponential of one value, as the other kernels compute it. */
  default float exp(float value) {
    return Exponential.exp(value);
  }

  /**
   * Computes the scores of one page for {@value #QUERIES} queries: {@code out[q][token] = scale *
   * chain over d of K[d][token] * query[d][q]}.
   *
   * @param query interleaved queries: element (d, q) at {@code qo + d * QUERIES + q}
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
      Floats out,
      int oo,
      int stride);

  /**
   * Turns the scores of the queries from {@code first} to before {@code end} into weights: {@code
   * exp(score - max)}. The factor of a query is the inverse of the sum of its weights, added in
   * lanes. A sum starts at the page in which the query's window begins, so that its lanes depend
   * only on the query. Weights of this page before the window are almost zero, and weights of the
   * last page after the window are zero.
   *
   * @param scores element (query, token) at {@code query * stride + token}
   * @param stride a multiple of {@value #LANES}
   * @param from the first token of each query
   * @param to the end of each query's tokens, after {@code from}
   * @param cap the cap of {@link #softCap}; 0 for none
   * @param sinks the sink of query i, a score without a value, at {@code so + i % group}; or null
   * @param factors one per query
   * @param lanes {@value #LANES} floats of scratch
   */
  void softmax(
      Floats scores,
      int stride,
      int[] from,
      int[] to,
      int first,
      int end,
      float cap,
      Floats sinks,
      int so,
      int group,
      float[] factors,
      float[] lanes);

  /**
   * Computes the weighted sums of values of consecutive tokens for {@value #QUERIES} queries:
   * {@code out[q][d] = chain over tokens of V[token][d] * weight[q][token]}.
   *
   * @param weights element (q, token) at {@code wo + q * ws + token}
   * @param values element (token, d) at {@code vo + token * headDim + d}
   * @param tokens number of tokens
   * @param out element (q, d) at {@code oo + q * headDim + d}
   */
  void values(
      Floats weights,
      int wo,
      int ws,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo);

  /** Like {@link #values}, for one query. */
  void valuesOne(
      Floats weights, int wo, float[] values, int vo, int headDim, int tokens, float[] out, int oo);
}
