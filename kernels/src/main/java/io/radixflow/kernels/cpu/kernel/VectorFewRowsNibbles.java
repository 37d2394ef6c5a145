package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * A few activation rows times a panel of 4-bit codes, unpacked in registers: what decoding some
 * sequences at once runs. One loop over k with everything reloaded in it, since JDK 17 boxes
 * vectors that live across a nest of loops; the loads hit the nearest cache.
 *
 * <p>Eight rows take two vectors of outputs where there are 32 registers, else one.
 */
final class VectorFewRowsNibbles {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_PREFERRED;
  private static final int L = F.length();

  private VectorFewRowsNibbles() {}

  private static FloatVector nibble(int[] codes, int word, int shift, float[] scales, int scale) {
    IntVector code =
        IntVector.fromArray(I, codes, word).lanewise(VectorOperators.LSHR, shift).and(15);
    return ((FloatVector) code.castShape(F, 0))
        .fma(
            FloatVector.fromArray(F, scales, scale),
            FloatVector.fromArray(F, scales, scale + PANEL));
  }

  static void times4(
      int[] codes,
      int co,
      float[] scales,
      int so,
      int depth,
      float[] a,
      float[] c,
      int at,
      int ldc) {
    for (int i = 0; i < PANEL; i += 2 * L) {
      column4(codes, co + i, scales, so + i, depth, a, c, at + i, ldc);
    }
  }

  private static void column4(
      int[] codes,
      int co,
      float[] scales,
      int so,
      int depth,
      float[] a,
      float[] c,
      int at,
      int ldc) {
    FloatVector s00 = FloatVector.fromArray(F, c, at);
    FloatVector s01 = FloatVector.fromArray(F, c, at + L);
    FloatVector s10 = FloatVector.fromArray(F, c, at + ldc);
    FloatVector s11 = FloatVector.fromArray(F, c, at + ldc + L);
    FloatVector s20 = FloatVector.fromArray(F, c, at + 2 * ldc);
    FloatVector s21 = FloatVector.fromArray(F, c, at + 2 * ldc + L);
    FloatVector s30 = FloatVector.fromArray(F, c, at + 3 * ldc);
    FloatVector s31 = FloatVector.fromArray(F, c, at + 3 * ldc + L);
    for (int k = 0; k < depth; k++) {
      int word = co + (k >> 3) * PANEL;
      int shift = (k & 7) << 2;
      int scale = so + (k >> 5) * 2 * PANEL;
      FloatVector w0 = nibble(codes, word, shift, scales, scale);
      FloatVector w1 = nibble(codes, word + L, shift, scales, scale + L);
      int q = k * 4;
      FloatVector x;
      x = FloatVector.broadcast(F, a[q]);
      s00 = w0.fma(x, s00);
      s01 = w1.fma(x, s01);
      x = FloatVector.broadcast(F, a[q + 1]);
      s10 = w0.fma(x, s10);
      s11 = w1.fma(x, s11);
      x = FloatVector.broadcast(F, a[q + 2]);
      s20 = w0.fma(x, s20);
      s21 = w1.fma(x, s21);
      x = FloatVector.broadcast(F, a[q + 3]);
      s30 = w0.fma(x, s30);
      s31 = w1.fma(x, s31);
    }
    s00.intoArray(c, at);
    s01.intoArray(c, at + L);
    s10.intoArray(c, at + ldc);
    s11.intoArray(c, at + ldc + L);
    s20.intoArray(c, at + 2 * ldc);
    s21.intoArray(c, at + 2 * ldc + L);
    s30.intoArray(c, at + 3 * ldc);
    s31.intoArray(c, at + 3 * ldc + L);
  }

  static void times8(
      int[] codes,
      int co,
      float[] scales,
      int so,
      int depth,
      float[] a,
      float[] c,
      int at,
      int ldc) {
    if (2 * L == PANEL) {
      panel8(codes, co, scales, so, depth, a, c, at, ldc);
      return;
    }
    for (int i = 0; i < PANEL; i += L) {
      column8(codes, co + i, scales, so + i, depth, a, c, at + i, ldc);
    }
  }

  private static void panel8(
      int[] codes,
      int co,
      float[] scales,
      int so,
      int depth,
      float[] a,
      float[] c,
      int at,
      int ldc) {
    FloatVector s00 = FloatVector.fromArray(F, c, at);
    FloatVector s01 = FloatVector.fromArray(F, c, at + L);
    FloatVector s10 = FloatVector.fromArray(F, c, at + ldc);
    FloatVector s11 = FloatVector.fromArray(F, c, at + ldc + L);
    FloatVector s20 = FloatVector.fromArray(F, c, at + 2 * ldc);
    FloatVector s21 = FloatVector.fromArray(F, c, at + 2 * ldc + L);
    FloatVector s30 = FloatVector.fromArray(F, c, at + 3 * ldc);
    FloatVector s31 = FloatVector.fromArray(F, c, at + 3 * ldc + L);
    FloatVector s40 = FloatVector.fromArray(F, c, at + 4 * ldc);
    FloatVector s41 = FloatVector.fromArray(F, c, at + 4 * ldc + L);
    FloatVector s50 = FloatVector.fromArray(F, c, at + 5 * ldc);
    FloatVector s51 = FloatVector.fromArray(F, c, at + 5 * ldc + L);
    FloatVector s60 = FloatVector.fromArray(F, c, at + 6 * ldc);
    FloatVector s61 = FloatVector.fromArray(F, c, at + 6 * ldc + L);
    FloatVector s70 = FloatVector.fromArray(F, c, at + 7 * ldc);
    FloatVector s71 = FloatVector.fromArray(F, c, at + 7 * ldc + L);
    for (int k = 0; k < depth; k++) {
      int word = co + (k >> 3) * PANEL;
      int shift = (k & 7) << 2;
      int scale = so + (k >> 5) * 2 * PANEL;
      FloatVector w0 = nibble(codes, word, shift, scales, scale);
      FloatVector w1 = nibble(codes, word + L, shift, scales, scale + L);
      int q = k * 8;
      FloatVector x;
      x = FloatVector.broadcast(F, a[q]);
      s00 = w0.fma(x, s00);
      s01 = w1.fma(x, s01);
      x = FloatVector.broadcast(F, a[q + 1]);
      s10 = w0.fma(x, s10);
      s11 = w1.fma(x, s11);
      x = FloatVector.broadcast(F, a[q + 2]);
      s20 = w0.fma(x, s20);
      s21 = w1.fma(x, s21);
      x = FloatVector.broadcast(F, a[q + 3]);
      s30 = w0.fma(x, s30);
      s31 = w1.fma(x, s31);
      x = FloatVector.broadcast(F, a[q + 4]);
      s40 = w0.fma(x, s40);
      s41 = w1.fma(x, s41);
      x = FloatVector.broadcast(F, a[q + 5]);
      s50 = w0.fma(x, s50);
      s51 = w1.fma(x, s51);
      x = FloatVector.broadcast(F, a[q + 6]);
      s60 = w0.fma(x, s60);
      s61 = w1.fma(x, s61);
      x = FloatVector.broadcast(F, a[q + 7]);
      s70 = w0.fma(x, s70);
      s71 = w1.fma(x, s71);
    }
    s00.intoArray(c, at);
    s01.intoArray(c, at + L);
    s10.intoArray(c, at + ldc);
    s11.intoArray(c, at + ldc + L);
    s20.intoArray(c, at + 2 * ldc);
    s21.intoArray(c, at + 2 * ldc + L);
    s30.intoArray(c, at + 3 * ldc);
    s31.intoArray(c, at + 3 * ldc + L);
    s40.intoArray(c, at + 4 * ldc);
    s41.intoArray(c, at + 4 * ldc + L);
    s50.intoArray(c, at + 5 * ldc);
    s51.intoArray(c, at + 5 * ldc + L);
    s60.intoArray(c, at + 6 * ldc);
    s61.intoArray(c, at + 6 * ldc + L);
    s70.intoArray(c, at + 7 * ldc);
    s71.intoArray(c, at + 7 * ldc + L);
  }

  private static void column8(
      int[] codes,
      int co,
      float[] scales,
      int so,
      int depth,
      float[] a,
      float[] c,
      int at,
      int ldc) {
    FloatVector s0 = FloatVector.fromArray(F, c, at);
    FloatVector s1 = FloatVector.fromArray(F, c, at + ldc);
    FloatVector s2 = FloatVector.fromArray(F, c, at + 2 * ldc);
    FloatVector s3 = FloatVector.fromArray(F, c, at + 3 * ldc);
    FloatVector s4 = FloatVector.fromArray(F, c, at + 4 * ldc);
    FloatVector s5 = FloatVector.fromArray(F, c, at + 5 * ldc);
    FloatVector s6 = FloatVector.fromArray(F, c, at + 6 * ldc);
    FloatVector s7 = FloatVector.fromArray(F, c, at + 7 * ldc);
    for (int k = 0; k < depth; k++) {
      int word = co + (k >> 3) * PANEL;
      int shift = (k & 7) << 2;
      int scale = so + (k >> 5) * 2 * PANEL;
      FloatVector w0 = nibble(codes, word, shift, scales, scale);
      int q = k * 8;
      s0 = w0.fma(FloatVector.broadcast(F, a[q]), s0);
      s1 = w0.fma(FloatVector.broadcast(F, a[q + 1]), s1);
      s2 = w0.fma(FloatVector.broadcast(F, a[q + 2]), s2);
      s3 = w0.fma(FloatVector.broadcast(F, a[q + 3]), s3);
      s4 = w0.fma(FloatVector.broadcast(F, a[q + 4]), s4);
      s5 = w0.fma(FloatVector.broadcast(F, a[q + 5]), s5);
      s6 = w0.fma(FloatVector.broadcast(F, a[q + 6]), s6);
      s7 = w0.fma(FloatVector.broadcast(F, a[q + 7]), s7);
    }
    s0.intoArray(c, at);
    s1.intoArray(c, at + ldc);
    s2.intoArray(c, at + 2 * ldc);
    s3.intoArray(c, at + 3 * ldc);
    s4.intoArray(c, at + 4 * ldc);
    s5.intoArray(c, at + 5 * ldc);
    s6.intoArray(c, at + 6 * ldc);
    s7.intoArray(c, at + 7 * ldc);
  }
}
