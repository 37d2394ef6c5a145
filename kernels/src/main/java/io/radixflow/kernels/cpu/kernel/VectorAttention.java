package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.LANES;
import static io.radixflow.kernels.cpu.kernel.Kernels.QUERIES;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Attention of four queries over one page. Lanes are tokens in scores, and elements in values. */
final class VectorAttention {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final int L = F.length();

  private VectorAttention() {}

  static void scores(
      float[] query,
      int qo,
      float[] keys,
      int ko,
      int headDim,
      float scale,
      float[] out,
      int oo,
      int stride) {
    for (int token = 0; token < LANES; token += L) {
      someScores(query, qo, keys, ko + token, headDim, scale, out, oo + token, stride);
    }
  }

  private static void someScores(
      float[] query,
      int qo,
      float[] keys,
      int ko,
      int headDim,
      float scale,
      float[] out,
      int oo,
      int stride) {
    FloatVector s0 = FloatVector.zero(F);
    FloatVector s1 = FloatVector.zero(F);
    FloatVector s2 = FloatVector.zero(F);
    FloatVector s3 = FloatVector.zero(F);
    for (int d = 0, q = qo, p = ko; d < headDim; d++, q += QUERIES, p += LANES) {
      FloatVector k = FloatVector.fromArray(F, keys, p);
      s0 = k.fma(FloatVector.broadcast(F, query[q]), s0);
      s1 = k.fma(FloatVector.broadcast(F, query[q + 1]), s1);
      s2 = k.fma(FloatVector.broadcast(F, query[q + 2]), s2);
      s3 = k.fma(FloatVector.broadcast(F, query[q + 3]), s3);
    }
    s0.mul(scale).intoArray(out, oo);
    s1.mul(scale).intoArray(out, oo + stride);
    s2.mul(scale).intoArray(out, oo + 2 * stride);
    s3.mul(scale).intoArray(out, oo + 3 * stride);
  }

  static void values(
      float[] weights,
      int wo,
      int ws,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo) {
    int d = 0;
    for (; d + 2 * L <= headDim; d += 2 * L) {
      twoVectors(weights, wo, ws, values, vo + d, headDim, tokens, out, oo + d);
    }
    if (d == headDim) {
      return;
    }
    for (int q = 0; q < QUERIES; q++) {
      restOfOne(d, weights, wo + q * ws, values, vo, headDim, tokens, out, oo + q * headDim);
    }
  }

  private static void twoVectors(
      float[] weights,
      int wo,
      int ws,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo) {
    FloatVector s00 = FloatVector.fromArray(F, out, oo);
    FloatVector s01 = FloatVector.fromArray(F, out, oo + L);
    FloatVector s10 = FloatVector.fromArray(F, out, oo + headDim);
    FloatVector s11 = FloatVector.fromArray(F, out, oo + headDim + L);
    FloatVector s20 = FloatVector.fromArray(F, out, oo + 2 * headDim);
    FloatVector s21 = FloatVector.fromArray(F, out, oo + 2 * headDim + L);
    FloatVector s30 = FloatVector.fromArray(F, out, oo + 3 * headDim);
    FloatVector s31 = FloatVector.fromArray(F, out, oo + 3 * headDim + L);
    FloatVector x;
    for (int t = 0, p = vo; t < tokens; t++, p += headDim) {
      FloatVector v0 = FloatVector.fromArray(F, values, p);
      FloatVector v1 = FloatVector.fromArray(F, values, p + L);
      x = FloatVector.broadcast(F, weights[wo + t]);
      s00 = v0.fma(x, s00);
      s01 = v1.fma(x, s01);
      x = FloatVector.broadcast(F, weights[wo + ws + t]);
      s10 = v0.fma(x, s10);
      s11 = v1.fma(x, s11);
      x = FloatVector.broadcast(F, weights[wo + 2 * ws + t]);
      s20 = v0.fma(x, s20);
      s21 = v1.fma(x, s21);
      x = FloatVector.broadcast(F, weights[wo + 3 * ws + t]);
      s30 = v0.fma(x, s30);
      s31 = v1.fma(x, s31);
    }
    s00.intoArray(out, oo);
    s01.intoArray(out, oo + L);
    s10.intoArray(out, oo + headDim);
    s11.intoArray(out, oo + headDim + L);
    s20.intoArray(out, oo + 2 * headDim);
    s21.intoArray(out, oo + 2 * headDim + L);
    s30.intoArray(out, oo + 3 * headDim);
    s31.intoArray(out, oo + 3 * headDim + L);
  }

  static void valuesOne(
      float[] weights,
      int wo,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo) {
    restOfOne(0, weights, wo, values, vo, headDim, tokens, out, oo);
  }

  private static void restOfOne(
      int first,
      float[] weights,
      int wo,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo) {
    int d = first;
    for (; d + L <= headDim; d += L) {
      oneVector(weights, wo, values, vo + d, headDim, tokens, out, oo + d);
    }
    ScalarKernels.valuesFrom(d, weights, wo, values, vo, headDim, tokens, out, oo);
  }

  private static void oneVector(
      float[] weights,
      int wo,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo) {
    FloatVector sum = FloatVector.fromArray(F, out, oo);
    for (int t = 0, p = vo; t < tokens; t++, p += headDim) {
      FloatVector v = FloatVector.fromArray(F, values, p);
      sum = v.fma(FloatVector.broadcast(F, weights[wo + t]), sum);
    }
    sum.intoArray(out, oo);
  }
}
