package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.LANES;

import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Norms, softmax and element-wise operations over rows of any length. */
final class VectorRows {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final int L = F.length();

  private VectorRows() {}

  static float sumOfSquares(float[] x, int xo, int n, float[] lanes) {
    int whole = n - n % LANES;
    for (int lane = 0; lane < LANES; lane += L) {
      squares(x, xo + lane, xo + whole, lanes, lane);
    }
    for (int i = whole; i < n; i++) {
      lanes[i - whole] = Math.fma(x[xo + i], x[xo + i], lanes[i - whole]);
    }
    return LaneSum.of(lanes);
  }

  private static void squares(float[] x, int from, int end, float[] lanes, int lane) {
    FloatVector sum = FloatVector.zero(F);
    for (int i = from; i < end; i += LANES) {
      FloatVector v = FloatVector.fromArray(F, x, i);
      sum = v.fma(v, sum);
    }
    sum.intoArray(lanes, lane);
  }

  static void scale(float[] x, int xo, float factor, float[] gain, float[] out, int oo, int n) {
    int whole = F.loopBound(n);
    FloatVector f = FloatVector.broadcast(F, factor);
    for (int i = 0; i < whole; i += L) {
      FloatVector.fromArray(F, x, xo + i)
          .mul(f)
          .mul(FloatVector.fromArray(F, gain, i))
          .intoArray(out, oo + i);
    }
    ScalarKernels.scaleFrom(whole, x, xo, factor, gain, out, oo, n);
  }

  static void add(float[] x, int xo, float[] y, int yo, int n) {
    int whole = F.loopBound(n);
    for (int i = 0; i < whole; i += L) {
      FloatVector.fromArray(F, y, yo + i)
          .add(FloatVector.fromArray(F, x, xo + i))
          .intoArray(y, yo + i);
    }
    for (int i = whole; i < n; i++) {
      y[yo + i] += x[xo + i];
    }
  }

  static void swiglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    int whole = F.loopBound(n);
    for (int i = 0; i < whole; i += L) {
      FloatVector g = FloatVector.fromArray(F, gate, go + i);
      g.div(exp(g.neg()).add(1f)).mul(FloatVector.fromArray(F, up, uo + i)).intoArray(out, oo + i);
    }
    ScalarKernels.swigluFrom(whole, gate, go, up, uo, out, oo, n);
  }

  static void geglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    int whole = F.loopBound(n);
    for (int i = 0; i < whole; i += L) {
      FloatVector g = FloatVector.fromArray(F, gate, go + i);
      FloatVector inner = g.mul(g).fma(g.mul(Exponential.GELU_CUBE), g.mul(Exponential.GELU_LINE));
      g.div(exp(inner.neg()).add(1f))
          .mul(FloatVector.fromArray(F, up, uo + i))
          .intoArray(out, oo + i);
    }
    ScalarKernels.gegluFrom(whole, gate, go, up, uo, out, oo, n);
  }

  static void normalGlu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    int whole = F.loopBound(n);
    for (int i = 0; i < whole; i += L) {
      FloatVector g = FloatVector.fromArray(F, gate, go + i);
      FloatVector size = g.abs();
      size.neg()
          .fma(normalTail(size), g.max(0f))
          .mul(FloatVector.fromArray(F, up, uo + i))
          .intoArray(out, oo + i);
    }
    ScalarKernels.normalGluFrom(whole, gate, go, up, uo, out, oo, n);
  }

  /** Computes {@link NormalTail#of} in each lane. */
  private static FloatVector normalTail(FloatVector x) {
    FloatVector one = FloatVector.broadcast(F, 1f);
    FloatVector t = one.div(x.fma(FloatVector.broadcast(F, NormalTail.SLOPE), one));
    FloatVector p =
        t.fma(FloatVector.broadcast(F, NormalTail.C5), FloatVector.broadcast(F, NormalTail.C4));
    p = p.fma(t, FloatVector.broadcast(F, NormalTail.C3));
    p = p.fma(t, FloatVector.broadcast(F, NormalTail.C2));
    p = p.fma(t, FloatVector.broadcast(F, NormalTail.C1));
    return p.mul(t).mul(exp(x.mul(x).mul(-0.5f)));
  }

  static void clampedSwiglu(
      float[] gate, int go, float[] up, int uo, float limit, float[] out, int oo, int n) {
    int whole = F.loopBound(n);
    for (int i = 0; i < whole; i += L) {
      FloatVector g = FloatVector.fromArray(F, gate, go + i).min(limit);
      FloatVector u = FloatVector.fromArray(F, up, uo + i).min(limit).max(-limit);
      g.div(exp(g.mul(-Exponential.SIGMOID_SLOPE)).add(1f)).mul(u.add(1f)).intoArray(out, oo + i);
    }
    ScalarKernels.clampedSwigluFrom(whole, gate, go, up, uo, limit, out, oo, n);
  }

  static void softCap(float[] x, int xo, int n, float cap) {
    int whole = F.loopBound(n);
    FloatVector one = FloatVector.broadcast(F, 1f);
    FloatVector two = FloatVector.broadcast(F, 2f);
    for (int i = 0; i < whole; i += L) {
      FloatVector e = exp(FloatVector.fromArray(F, x, xo + i).mul(2f / cap));
      one.sub(two.div(e.add(1f))).mul(cap).intoArray(x, xo + i);
    }
    ScalarKernels.softCapFrom(whole, x, xo, n, cap);
  }

  /** Computes {@link Exponential#exp} in each lane. */
  private static FloatVector exp(FloatVector value) {
    FloatVector x = value.max(Exponential.LOWEST).min(Exponential.HIGHEST);
    FloatVector shifted =
        x.fma(
            FloatVector.broadcast(F, Exponential.LOG2_E),
            FloatVector.broadcast(F, Exponential.ROUNDING));
    FloatVector n = shifted.sub(Exponential.ROUNDING);
    FloatVector r = n.fma(FloatVector.broadcast(F, Exponential.MINUS_LN2_HIGH), x);
    r = n.fma(FloatVector.broadcast(F, Exponential.MINUS_LN2_LOW), r);
    FloatVector p =
        r.fma(FloatVector.broadcast(F, Exponential.C6), FloatVector.broadcast(F, Exponential.C5));
    p = p.fma(r, FloatVector.broadcast(F, Exponential.C4));
    p = p.fma(r, FloatVector.broadcast(F, Exponential.C3));
    p = p.fma(r, FloatVector.broadcast(F, Exponential.C2));
    p = p.fma(r, FloatVector.broadcast(F, 1f));
    p = p.fma(r, FloatVector.broadcast(F, 1f));
    return p.mul(
        shifted
            .reinterpretAsInts()
            .add(127)
            .lanewise(VectorOperators.LSHL, 23)
            .reinterpretAsFloats());
  }

  static float max(float[] x, int xo, int n, float[] lanes) {
    int whole = F.loopBound(n);
    FloatVector m = FloatVector.broadcast(F, Float.NEGATIVE_INFINITY);
    for (int i = 0; i < whole; i += L) {
      m = m.max(FloatVector.fromArray(F, x, xo + i));
    }
    m.intoArray(lanes, 0);
    float max = lanes[0];
    for (int i = 1; i < L; i++) {
      max = Math.max(max, lanes[i]);
    }
    for (int i = whole; i < n; i++) {
      max = Math.max(max, x[xo + i]);
    }
    return max;
  }

  static float exponentials(float[] x, int xo, int n, float max, float[] lanes) {
    int padded = (n + LANES - 1) / LANES * LANES;
    expShifted(x, xo, padded, max);
    Arrays.fill(x, xo + n, xo + padded, 0f);
    for (int lane = 0; lane < LANES; lane += L) {
      sum(x, xo + lane, xo + padded, lanes, lane);
    }
    return LaneSum.of(lanes);
  }

  private static void expShifted(float[] x, int xo, int n, float max) {
    FloatVector m = FloatVector.broadcast(F, max);
    for (int i = 0; i < n; i += L) {
      exp(FloatVector.fromArray(F, x, xo + i).sub(m)).intoArray(x, xo + i);
    }
  }

  private static void sum(float[] x, int from, int end, float[] lanes, int lane) {
    FloatVector sum = FloatVector.zero(F);
    for (int i = from; i < end; i += LANES) {
      sum = sum.add(FloatVector.fromArray(F, x, i));
    }
    sum.intoArray(lanes, lane);
  }
}
