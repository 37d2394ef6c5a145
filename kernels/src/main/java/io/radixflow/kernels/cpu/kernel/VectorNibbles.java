package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Panels of 4-bit codes with a scale and a minimum. */
final class VectorNibbles {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_PREFERRED;
  private static final int L = F.length();

  private VectorNibbles() {}

  static void unpack(int[] codes, int co, float[] scales, int so, int eighths, float[] out) {
    for (int i = 0; i < PANEL; i += L) {
      unpackColumn(codes, co + i, scales, so + i, eighths, out, i);
    }
  }

  private static void unpackColumn(
      int[] codes, int co, float[] scales, int so, int eighths, float[] out, int oo) {
    for (int e = 0; e < eighths; e++) {
      int scale = so + (e >> 2) * 2 * PANEL;
      int o = oo + e * 8 * PANEL;
      IntVector v = IntVector.fromArray(I, codes, co + e * PANEL);
      FloatVector d = FloatVector.fromArray(F, scales, scale);
      FloatVector m = FloatVector.fromArray(F, scales, scale + PANEL);
      weight(v.and(15), d, m).intoArray(out, o);
      weight(v.lanewise(VectorOperators.LSHR, 4).and(15), d, m).intoArray(out, o + PANEL);
      weight(v.lanewise(VectorOperators.LSHR, 8).and(15), d, m).intoArray(out, o + 2 * PANEL);
      weight(v.lanewise(VectorOperators.LSHR, 12).and(15), d, m).intoArray(out, o + 3 * PANEL);
      weight(v.lanewise(VectorOperators.LSHR, 16).and(15), d, m).intoArray(out, o + 4 * PANEL);
      weight(v.lanewise(VectorOperators.LSHR, 20).and(15), d, m).intoArray(out, o + 5 * PANEL);
      weight(v.lanewise(VectorOperators.LSHR, 24).and(15), d, m).intoArray(out, o + 6 * PANEL);
      weight(v.lanewise(VectorOperators.LSHR, 28), d, m).intoArray(out, o + 7 * PANEL);
    }
  }

  private static FloatVector weight(IntVector code, FloatVector scale, FloatVector minimum) {
    return ((FloatVector) code.castShape(F, 0)).fma(scale, minimum);
  }

  static void timesVector(
      int[] codes, int co, float[] scales, int so, int eighths, float[] x, float[] out, int oo) {
    if (L == 16) {
      timesTwo(codes, co, scales, so, eighths, x, out, oo);
      return;
    }
    for (int i = 0; i < PANEL; i += 4 * L) {
      timesFour(codes, co + i, scales, so + i, eighths, x, out, oo + i, 0);
    }
  }

  /**
   * Two vectors at once. The inner loop counts from 0 to 8 so that C2 unrolls it whole: JDK 17
   * boxes vectors that live across a loop that stays.
   */
  private static void timesTwo(
      int[] codes, int co, float[] scales, int so, int eighths, float[] x, float[] out, int oo) {
    FloatVector s0 = FloatVector.fromArray(F, out, oo);
    FloatVector s1 = FloatVector.fromArray(F, out, oo + L);
    for (int e = 0; e < eighths; e++) {
      int block = so + (e >> 2) * 2 * PANEL;
      FloatVector d0 = FloatVector.fromArray(F, scales, block);
      FloatVector d1 = FloatVector.fromArray(F, scales, block + L);
      FloatVector m0 = FloatVector.fromArray(F, scales, block + PANEL);
      FloatVector m1 = FloatVector.fromArray(F, scales, block + PANEL + L);
      IntVector v0 = IntVector.fromArray(I, codes, co + e * PANEL);
      IntVector v1 = IntVector.fromArray(I, codes, co + e * PANEL + L);
      for (int i = 0; i < 8; i++) {
        FloatVector b = FloatVector.broadcast(F, x[e * 8 + i]);
        s0 = weight(v0.and(15), d0, m0).fma(b, s0);
        s1 = weight(v1.and(15), d1, m1).fma(b, s1);
        v0 = v0.lanewise(VectorOperators.LSHR, 4);
        v1 = v1.lanewise(VectorOperators.LSHR, 4);
      }
    }
    s0.intoArray(out, oo);
    s1.intoArray(out, oo + L);
  }

  /**
   * Four vectors at once. {@code zero} is 0, but C2 does not know: it cannot hoist the loads of
   * scales out of the inner loop, which would take eight of sixteen registers.
   */
  private static void timesFour(
      int[] codes,
      int co,
      float[] scales,
      int so,
      int eighths,
      float[] x,
      float[] out,
      int oo,
      int zero) {
    FloatVector s0 = FloatVector.fromArray(F, out, oo);
    FloatVector s1 = FloatVector.fromArray(F, out, oo + L);
    FloatVector s2 = FloatVector.fromArray(F, out, oo + 2 * L);
    FloatVector s3 = FloatVector.fromArray(F, out, oo + 3 * L);
    for (int e = 0; e < eighths; e++) {
      int block = so + (e >> 2) * 2 * PANEL;
      int word = co + e * PANEL;
      IntVector v0 = IntVector.fromArray(I, codes, word);
      IntVector v1 = IntVector.fromArray(I, codes, word + L);
      IntVector v2 = IntVector.fromArray(I, codes, word + 2 * L);
      IntVector v3 = IntVector.fromArray(I, codes, word + 3 * L);
      for (int i = 0; i < 8; i++) {
        int d = block + (i & zero);
        FloatVector b = FloatVector.broadcast(F, x[e * 8 + i]);
        s0 = weightAt(v0, scales, d).fma(b, s0);
        s1 = weightAt(v1, scales, d + L).fma(b, s1);
        s2 = weightAt(v2, scales, d + 2 * L).fma(b, s2);
        s3 = weightAt(v3, scales, d + 3 * L).fma(b, s3);
        v0 = v0.lanewise(VectorOperators.LSHR, 4);
        v1 = v1.lanewise(VectorOperators.LSHR, 4);
        v2 = v2.lanewise(VectorOperators.LSHR, 4);
        v3 = v3.lanewise(VectorOperators.LSHR, 4);
      }
    }
    s0.intoArray(out, oo);
    s1.intoArray(out, oo + L);
    s2.intoArray(out, oo + 2 * L);
    s3.intoArray(out, oo + 3 * L);
  }

  private static FloatVector weightAt(IntVector code, float[] scales, int at) {
    return ((FloatVector) code.and(15).castShape(F, 0))
        .fma(FloatVector.fromArray(F, scales, at), FloatVector.fromArray(F, scales, at + PANEL));
  }
}
