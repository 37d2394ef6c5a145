package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Fma.fma;

import io.radixflow.models.Float16;
import io.radixflow.models.Float8;
import java.util.Arrays;

/**
 * The kernels in plain Java: the reference for native code, which must produce the same bits, and
 * what runs without native code.
 */
public class ScalarKernels implements Kernels {

  @Override
  public String name() {
    return "scalar";
  }

  @Override
  public int vectorBits() {
    return 32;
  }

  @Override
  public void tile(
      int rows, float[] a, int ao, float[] w, int wo, int depth, float[] c, int co, int ldc) {
    for (int row = 0; row < rows; row++) {
      int out = co + row * ldc;
      for (int k = 0; k < depth; k++) {
        addScaled(a[ao + k * rows + row], w, wo + k * PANEL, c, out, PANEL);
      }
    }
  }

  private static void addScaled(float x, float[] w, int wo, float[] c, int co, int n) {
    for (int i = 0; i < n; i++) {
      c[co + i] = fma(w[wo + i], x, c[co + i]);
    }
  }

  @Override
  public void unpackCodes(CodeForm form, int[] codes, int co, int blocks, float[] out) {
    for (int k = 0; k < blocks * CodeForm.BLOCK; k++) {
      int at = co + k / CodeForm.BLOCK * form.words() * PANEL;
      for (int lane = 0; lane < PANEL; lane++) {
        out[k * PANEL + lane] = form.code(codes, at, k % CodeForm.BLOCK, lane);
      }
    }
  }

  @Override
  public void unpackParts(
      CodeForm form, int[] codes, int co, int blocks, float[] high, float[] low) {
    for (int k = 0; k < blocks * CodeForm.BLOCK; k++) {
      int at = co + k / CodeForm.BLOCK * form.words() * PANEL;
      for (int lane = 0; lane < PANEL; lane++) {
        int code = form.code(codes, at, k % CodeForm.BLOCK, lane);
        high[k * PANEL + lane] = code >> 4;
        low[k * PANEL + lane] = code & 15;
      }
    }
  }

  @Override
  public void nibblesTimesRow(
      CodeForm form, int[] codes, int co, int blocks, float[] x, float[] sums) {
    for (int b = 0; b < blocks; b++) {
      int at = co + b * form.words() * PANEL;
      for (int lane = 0; lane < PANEL; lane++) {
        int sum = 0;
        for (int k = 0; k < CodeForm.BLOCK; k++) {
          sum += form.code(codes, at, k, lane) * (int) x[b * CodeForm.BLOCK + k];
        }
        sums[b * PANEL + lane] = sum;
      }
    }
  }

  @Override
  public void codesTimesRow(
      CodeForm form, int[] codes, int co, int block, int blocks, int[] x, float[] sums) {
    for (int b = 0; b < blocks; b++) {
      int first = b * block % CodeForm.BLOCK;
      int at = co + b * block / CodeForm.BLOCK * form.words() * PANEL;
      for (int lane = 0; lane < PANEL; lane++) {
        int sum = 0;
        for (int k = 0; k < block; k++) {
          sum += form.code(codes, at, first + k, lane) * x[b * block + k];
        }
        sums[b * PANEL + lane] = sum;
      }
    }
  }

  @Override
  public void scaleCodes(float[] w, float[] scales, int block, boolean minima, int depth) {
    for (int k = 0; k < depth; k++) {
      int at = k / block * (minima ? 2 : 1) * PANEL;
      for (int lane = 0; lane < PANEL; lane++) {
        int i = k * PANEL + lane;
        w[i] =
            minima
                ? fma(w[i], scales[at + lane], scales[at + PANEL + lane])
                : w[i] * scales[at + lane];
      }
    }
  }

  @Override
  public void addScaled(
      int rows,
      float[] sums,
      float[] high,
      float[] scales,
      int so,
      float[] rowScales,
      float[] rowMinima,
      float[] c,
      int co,
      int ldc) {
    for (int row = 0; row < rows; row++) {
      for (int lane = 0; lane < PANEL; lane++) {
        int at = row * PANEL + lane;
        float sum = high == null ? sums[at] : fma(high[at], 16, sums[at]);
        int out = co + row * ldc + lane;
        c[out] = fma(scales[so + lane] * rowScales[row], sum, c[out]);
        if (rowMinima != null) {
          c[out] = fma(scales[so + PANEL + lane], rowMinima[row], c[out]);
        }
      }
    }
  }

  @Override
  public void unpackFloat8(
      byte[] codes, int co, float[] scales, int so, int block, int blocks, float[] out) {
    for (int k = 0; k < blocks * block; k++) {
      int scale = so + k / block * PANEL;
      for (int row = 0; row < PANEL; row++) {
        out[k * PANEL + row] = Float8.toFloat(codes[co + k * PANEL + row]) * scales[scale + row];
      }
    }
  }

  @Override
  public void widenHalf(short[] source, int so, int count, float[] out, int oo) {
    for (int i = 0; i < count; i++) {
      out[oo + i] = Float16.toFloat(source[so + i]);
    }
  }

  @Override
  public void widenFloat8(byte[] source, int so, int count, float[] out, int oo) {
    for (int i = 0; i < count; i++) {
      out[oo + i] = Float8.toFloat(source[so + i]);
    }
  }

  @Override
  public void widenBfloat16(short[] source, int so, int count, float[] out, int oo) {
    for (int i = 0; i < count; i++) {
      out[oo + i] = Float.intBitsToFloat(source[so + i] << 16);
    }
  }

  @Override
  public float sumOfSquares(float[] x, int xo, int n, float[] lanes) {
    Arrays.fill(lanes, 0f);
    for (int i = 0; i < n; i++) {
      lanes[i % LANES] = fma(x[xo + i], x[xo + i], lanes[i % LANES]);
    }
    return LaneSum.of(lanes);
  }

  @Override
  public void scale(float[] x, int xo, float factor, float[] gain, float[] out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      out[oo + i] = x[xo + i] * factor * gain[i];
    }
  }

  @Override
  public void add(float[] x, int xo, float[] y, int yo, int n) {
    for (int i = 0; i < n; i++) {
      y[yo + i] += x[xo + i];
    }
  }

  @Override
  public void swiglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      float g = gate[go + i];
      out[oo + i] = g / (Exponential.exp(-g) + 1f) * up[uo + i];
    }
  }

  @Override
  public void geglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      float g = gate[go + i];
      float inner = fma(g * g, g * Exponential.GELU_CUBE, g * Exponential.GELU_LINE);
      out[oo + i] = g / (Exponential.exp(-inner) + 1f) * up[uo + i];
    }
  }

  @Override
  public void normalGlu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      float g = gate[go + i];
      float size = Math.abs(g);
      out[oo + i] = fma(-size, NormalTail.of(size), Math.max(g, 0f)) * up[uo + i];
    }
  }

  @Override
  public void clampedSwiglu(
      float[] gate, int go, float[] up, int uo, float limit, float[] out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      float g = Math.min(gate[go + i], limit);
      float u = Math.max(Math.min(up[uo + i], limit), -limit);
      out[oo + i] = g / (Exponential.exp(g * -Exponential.SIGMOID_SLOPE) + 1f) * (u + 1f);
    }
  }

  @Override
  public void softCap(float[] x, int xo, int n, float cap) {
    for (int i = 0; i < n; i++) {
      x[xo + i] = (1f - 2f / (Exponential.exp(x[xo + i] * (2f / cap)) + 1f)) * cap;
    }
  }

  @Override
  public void scores(
      float[] query,
      int qo,
      float[] keys,
      int ko,
      int headDim,
      float scale,
      float[] out,
      int oo,
      int stride) {
    for (int q = 0; q < QUERIES; q++) {
      int row = oo + q * stride;
      Arrays.fill(out, row, row + LANES, 0f);
      for (int d = 0; d < headDim; d++) {
        float x = query[qo + d * QUERIES + q];
        addScaled(x, keys, ko + d * LANES, out, row, LANES);
      }
      for (int token = 0; token < LANES; token++) {
        out[row + token] *= scale;
      }
    }
  }

  @Override
  public void softmax(
      float[] scores,
      int stride,
      int[] from,
      int[] to,
      int first,
      int end,
      float cap,
      float[] sinks,
      int so,
      int group,
      float[] factors,
      float[] lanes) {
    for (int i = first; i < end; i++) {
      int start = from[i] / LANES * LANES;
      int at = i * stride + start;
      int tokens = to[i] - start;
      if (cap > 0) {
        softCap(scores, at, tokens, cap);
      }
      Arrays.fill(scores, at, at + from[i] - start, Float.NEGATIVE_INFINITY);
      float max = max(scores, at, tokens);
      if (sinks == null) {
        factors[i] = 1f / exponentials(scores, at, tokens, max, lanes);
      } else {
        float sink = sinks[so + i % group];
        max = Math.max(max, sink);
        float sum = exponentials(scores, at, tokens, max, lanes);
        factors[i] = 1f / (sum + Exponential.exp(sink - max));
      }
    }
  }

  private static float max(float[] x, int xo, int n) {
    float max = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < n; i++) {
      max = Math.max(max, x[xo + i]);
    }
    return max;
  }

  private static float exponentials(float[] x, int xo, int n, float max, float[] lanes) {
    Arrays.fill(lanes, 0f);
    for (int i = 0; i < n; i++) {
      float e = Exponential.exp(x[xo + i] - max);
      x[xo + i] = e;
      lanes[i % LANES] += e;
    }
    for (int i = n; i % LANES != 0; i++) {
      x[xo + i] = 0f;
    }
    return LaneSum.of(lanes);
  }

  @Override
  public void values(
      float[] weights,
      int wo,
      int ws,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo) {
    for (int q = 0; q < QUERIES; q++) {
      valuesOne(weights, wo + q * ws, values, vo, headDim, tokens, out, oo + q * headDim);
    }
  }

  @Override
  public void valuesOne(
      float[] weights,
      int wo,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo) {
    for (int token = 0; token < tokens; token++) {
      addScaled(weights[wo + token], values, vo + token * headDim, out, oo, headDim);
    }
  }
}
