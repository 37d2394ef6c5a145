package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Fma.fma;

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
      int rows, Floats a, int ao, Floats w, int wo, int depth, Floats c, int co, int ldc) {
    for (int row = 0; row < rows; row++) {
      int out = co + row * ldc;
      for (int k = 0; k < depth; k++) {
        float x = a.get(ao + k * rows + row);
        for (int i = 0; i < PANEL; i++) {
          c.set(out + i, fma(w.get(wo + k * PANEL + i), x, c.get(out + i)));
        }
      }
    }
  }

  @Override
  public void unpackCodes(CodeForm form, int[] codes, int co, int blocks, Floats out) {
    for (int k = 0; k < blocks * CodeForm.BLOCK; k++) {
      int at = co + k / CodeForm.BLOCK * form.words() * PANEL;
      for (int lane = 0; lane < PANEL; lane++) {
        out.set(k * PANEL + lane, form.code(codes, at, k % CodeForm.BLOCK, lane));
      }
    }
  }

  @Override
  public void unpackParts(CodeForm form, int[] codes, int co, int blocks, Floats high, Floats low) {
    for (int k = 0; k < blocks * CodeForm.BLOCK; k++) {
      int at = co + k / CodeForm.BLOCK * form.words() * PANEL;
      for (int lane = 0; lane < PANEL; lane++) {
        int code = form.code(codes, at, k % CodeForm.BLOCK, lane);
        high.set(k * PANEL + lane, code >> 4);
        low.set(k * PANEL + lane, code & 15);
      }
    }
  }

  @Override
  public void nibblesTimesRow(
      CodeForm form, int[] codes, int co, int blocks, Floats x, float[] sums) {
    for (int b = 0; b < blocks; b++) {
      int at = co + b * form.words() * PANEL;
      for (int lane = 0; lane < PANEL; lane++) {
        int sum = 0;
        for (int k = 0; k < CodeForm.BLOCK; k++) {
          sum += form.code(codes, at, k, lane) * (int) x.get(b * CodeForm.BLOCK + k);
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
  public void scaleCodes(Floats w, float[] scales, int block, boolean minima, int depth) {
    for (int k = 0; k < depth; k++) {
      int at = k / block * (minima ? 2 : 1) * PANEL;
      for (int lane = 0; lane < PANEL; lane++) {
        int i = k * PANEL + lane;
        w.set(
            i,
            minima
                ? fma(w.get(i), scales[at + lane], scales[at + PANEL + lane])
                : w.get(i) * scales[at + lane]);
      }
    }
  }

  @Override
  public void addScaled(
      int rows,
      Floats sums,
      Floats high,
      float[] scales,
      int so,
      float[] rowScales,
      float[] rowMinima,
      Floats c,
      int co,
      int ldc) {
    for (int row = 0; row < rows; row++) {
      for (int lane = 0; lane < PANEL; lane++) {
        int at = row * PANEL + lane;
        float sum = high == null ? sums.get(at) : fma(high.get(at), 16, sums.get(at));
        int out = co + row * ldc + lane;
        c.set(out, fma(scales[so + lane] * rowScales[row], sum, c.get(out)));
        if (rowMinima != null) {
          c.set(out, fma(scales[so + PANEL + lane], rowMinima[row], c.get(out)));
        }
      }
    }
  }

  @Override
  public void unpackFloat8(
      byte[] codes, int co, float[] scales, int so, int block, int blocks, Floats out) {
    for (int k = 0; k < blocks * block; k++) {
      int scale = so + k / block * PANEL;
      for (int row = 0; row < PANEL; row++) {
        out.set(k * PANEL + row, Float8.toFloat(codes[co + k * PANEL + row]) * scales[scale + row]);
      }
    }
  }

  @Override
  public float sumOfSquares(Floats x, int xo, int n, float[] lanes) {
    Arrays.fill(lanes, 0f);
    for (int i = 0; i < n; i++) {
      lanes[i % LANES] = fma(x.get(xo + i), x.get(xo + i), lanes[i % LANES]);
    }
    return LaneSum.of(lanes);
  }

  @Override
  public void scale(Floats x, int xo, float factor, Floats gain, Floats out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      out.set(oo + i, x.get(xo + i) * factor * gain.get(i));
    }
  }

  @Override
  public void add(Floats x, int xo, Floats y, int yo, int n) {
    for (int i = 0; i < n; i++) {
      y.set(yo + i, y.get(yo + i) + x.get(xo + i));
    }
  }

  @Override
  public void swiglu(Floats gate, int go, Floats up, int uo, Floats out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      float g = gate.get(go + i);
      out.set(oo + i, g / (Exponential.exp(-g) + 1f) * up.get(uo + i));
    }
  }

  @Override
  public void geglu(Floats gate, int go, Floats up, int uo, Floats out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      float g = gate.get(go + i);
      float inner = fma(g * g, g * Exponential.GELU_CUBE, g * Exponential.GELU_LINE);
      out.set(oo + i, g / (Exponential.exp(-inner) + 1f) * up.get(uo + i));
    }
  }

  @Override
  public void normalGlu(Floats gate, int go, Floats up, int uo, Floats out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      float g = gate.get(go + i);
      float size = Math.abs(g);
      out.set(oo + i, fma(-size, NormalTail.of(size), Math.max(g, 0f)) * up.get(uo + i));
    }
  }

  @Override
  public void clampedSwiglu(
      Floats gate, int go, Floats up, int uo, float limit, Floats out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      float g = Math.min(gate.get(go + i), limit);
      float u = Math.max(Math.min(up.get(uo + i), limit), -limit);
      out.set(oo + i, g / (Exponential.exp(g * -Exponential.SIGMOID_SLOPE) + 1f) * (u + 1f));
    }
  }

  @Override
  public void softCap(Floats x, int xo, int n, float cap) {
    for (int i = 0; i < n; i++) {
      x.set(xo + i, (1f - 2f / (Exponential.exp(x.get(xo + i) * (2f / cap)) + 1f)) * cap);
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
      Floats out,
      int oo,
      int stride) {
    for (int q = 0; q < QUERIES; q++) {
      int row = oo + q * stride;
      out.fill(row, row + LANES, 0f);
      for (int d = 0; d < headDim; d++) {
        float x = query[qo + d * QUERIES + q];
        for (int token = 0; token < LANES; token++) {
          out.set(row + token, fma(keys[ko + d * LANES + token], x, out.get(row + token)));
        }
      }
      for (int token = 0; token < LANES; token++) {
        out.set(row + token, out.get(row + token) * scale);
      }
    }
  }

  @Override
  public void softmax(
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
      float[] lanes) {
    for (int i = first; i < end; i++) {
      int start = from[i] / LANES * LANES;
      int at = i * stride + start;
      int tokens = to[i] - start;
      if (cap > 0) {
        softCap(scores, at, tokens, cap);
      }
      scores.fill(at, at + from[i] - start, Float.NEGATIVE_INFINITY);
      float max = max(scores, at, tokens);
      if (sinks == null) {
        factors[i] = 1f / exponentials(scores, at, tokens, max, lanes);
      } else {
        float sink = sinks.get(so + i % group);
        max = Math.max(max, sink);
        float sum = exponentials(scores, at, tokens, max, lanes);
        factors[i] = 1f / (sum + Exponential.exp(sink - max));
      }
    }
  }

  private static float max(Floats x, int xo, int n) {
    float max = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < n; i++) {
      max = Math.max(max, x.get(xo + i));
    }
    return max;
  }

  private static float exponentials(Floats x, int xo, int n, float max, float[] lanes) {
    Arrays.fill(lanes, 0f);
    for (int i = 0; i < n; i++) {
      float e = Exponential.exp(x.get(xo + i) - max);
      x.set(xo + i, e);
      lanes[i % LANES] += e;
    }
    for (int i = n; i % LANES != 0; i++) {
      x.set(xo + i, 0f);
    }
    return LaneSum.of(lanes);
  }

  @Override
  public void values(
      Floats weights,
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
      Floats weights,
      int wo,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo) {
    for (int token = 0; token < tokens; token++) {
      float weight = weights.get(wo + token);
      for (int d = 0; d < headDim; d++) {
        out[oo + d] = fma(values[vo + token * headDim + d], weight, out[oo + d]);
      }
    }
  }
}
