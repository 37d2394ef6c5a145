package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The tiles of the matrix product: some activation rows times two vectors of a panel's outputs.
 *
 * <p>Each tile has its own method with one loop, because only then does C2 keep its accumulators in
 * registers (JDK 17 boxes vectors that live across loops). Which tile is fastest depends on machine
 * and JDK; {@code TileTuner} measures it.
 */
final class VectorTiles {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final int L = F.length();

  /** Outputs that one call of a tile covers. */
  static final int WIDTH = 2 * L;

  private VectorTiles() {}

  static void rows1(float[] a, int ao, float[] w, int wo, int depth, float[] c, int co, int ldc) {
    FloatVector s00 = FloatVector.fromArray(F, c, co);
    FloatVector s01 = FloatVector.fromArray(F, c, co + L);
    FloatVector x;
    for (int k = 0, q = ao, p = wo; k < depth; k++, q += 1, p += PANEL) {
      FloatVector w0 = FloatVector.fromArray(F, w, p);
      FloatVector w1 = FloatVector.fromArray(F, w, p + L);
      x = FloatVector.broadcast(F, a[q]);
      s00 = w0.fma(x, s00);
      s01 = w1.fma(x, s01);
    }
    s00.intoArray(c, co);
    s01.intoArray(c, co + L);
  }

  static void rows2(float[] a, int ao, float[] w, int wo, int depth, float[] c, int co, int ldc) {
    FloatVector s00 = FloatVector.fromArray(F, c, co);
    FloatVector s01 = FloatVector.fromArray(F, c, co + L);
    FloatVector s10 = FloatVector.fromArray(F, c, co + ldc);
    FloatVector s11 = FloatVector.fromArray(F, c, co + ldc + L);
    FloatVector x;
    for (int k = 0, q = ao, p = wo; k < depth; k++, q += 2, p += PANEL) {
      FloatVector w0 = FloatVector.fromArray(F, w, p);
      FloatVector w1 = FloatVector.fromArray(F, w, p + L);
      x = FloatVector.broadcast(F, a[q]);
      s00 = w0.fma(x, s00);
      s01 = w1.fma(x, s01);
      x = FloatVector.broadcast(F, a[q + 1]);
      s10 = w0.fma(x, s10);
      s11 = w1.fma(x, s11);
    }
    s00.intoArray(c, co);
    s01.intoArray(c, co + L);
    s10.intoArray(c, co + ldc);
    s11.intoArray(c, co + ldc + L);
  }

  static void rows4(float[] a, int ao, float[] w, int wo, int depth, float[] c, int co, int ldc) {
    FloatVector s00 = FloatVector.fromArray(F, c, co);
    FloatVector s01 = FloatVector.fromArray(F, c, co + L);
    FloatVector s10 = FloatVector.fromArray(F, c, co + ldc);
    FloatVector s11 = FloatVector.fromArray(F, c, co + ldc + L);
    FloatVector s20 = FloatVector.fromArray(F, c, co + 2 * ldc);
    FloatVector s21 = FloatVector.fromArray(F, c, co + 2 * ldc + L);
    FloatVector s30 = FloatVector.fromArray(F, c, co + 3 * ldc);
    FloatVector s31 = FloatVector.fromArray(F, c, co + 3 * ldc + L);
    FloatVector x;
    for (int k = 0, q = ao, p = wo; k < depth; k++, q += 4, p += PANEL) {
      FloatVector w0 = FloatVector.fromArray(F, w, p);
      FloatVector w1 = FloatVector.fromArray(F, w, p + L);
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
    s00.intoArray(c, co);
    s01.intoArray(c, co + L);
    s10.intoArray(c, co + ldc);
    s11.intoArray(c, co + ldc + L);
    s20.intoArray(c, co + 2 * ldc);
    s21.intoArray(c, co + 2 * ldc + L);
    s30.intoArray(c, co + 3 * ldc);
    s31.intoArray(c, co + 3 * ldc + L);
  }

  static void rows6(float[] a, int ao, float[] w, int wo, int depth, float[] c, int co, int ldc) {
    FloatVector s00 = FloatVector.fromArray(F, c, co);
    FloatVector s01 = FloatVector.fromArray(F, c, co + L);
    FloatVector s10 = FloatVector.fromArray(F, c, co + ldc);
    FloatVector s11 = FloatVector.fromArray(F, c, co + ldc + L);
    FloatVector s20 = FloatVector.fromArray(F, c, co + 2 * ldc);
    FloatVector s21 = FloatVector.fromArray(F, c, co + 2 * ldc + L);
    FloatVector s30 = FloatVector.fromArray(F, c, co + 3 * ldc);
    FloatVector s31 = FloatVector.fromArray(F, c, co + 3 * ldc + L);
    FloatVector s40 = FloatVector.fromArray(F, c, co + 4 * ldc);
    FloatVector s41 = FloatVector.fromArray(F, c, co + 4 * ldc + L);
    FloatVector s50 = FloatVector.fromArray(F, c, co + 5 * ldc);
    FloatVector s51 = FloatVector.fromArray(F, c, co + 5 * ldc + L);
    FloatVector x;
    for (int k = 0, q = ao, p = wo; k < depth; k++, q += 6, p += PANEL) {
      FloatVector w0 = FloatVector.fromArray(F, w, p);
      FloatVector w1 = FloatVector.fromArray(F, w, p + L);
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
    }
    s00.intoArray(c, co);
    s01.intoArray(c, co + L);
    s10.intoArray(c, co + ldc);
    s11.intoArray(c, co + ldc + L);
    s20.intoArray(c, co + 2 * ldc);
    s21.intoArray(c, co + 2 * ldc + L);
    s30.intoArray(c, co + 3 * ldc);
    s31.intoArray(c, co + 3 * ldc + L);
    s40.intoArray(c, co + 4 * ldc);
    s41.intoArray(c, co + 4 * ldc + L);
    s50.intoArray(c, co + 5 * ldc);
    s51.intoArray(c, co + 5 * ldc + L);
  }

  static void rows8(float[] a, int ao, float[] w, int wo, int depth, float[] c, int co, int ldc) {
    FloatVector s00 = FloatVector.fromArray(F, c, co);
    FloatVector s01 = FloatVector.fromArray(F, c, co + L);
    FloatVector s10 = FloatVector.fromArray(F, c, co + ldc);
    FloatVector s11 = FloatVector.fromArray(F, c, co + ldc + L);
    FloatVector s20 = FloatVector.fromArray(F, c, co + 2 * ldc);
    FloatVector s21 = FloatVector.fromArray(F, c, co + 2 * ldc + L);
    FloatVector s30 = FloatVector.fromArray(F, c, co + 3 * ldc);
    FloatVector s31 = FloatVector.fromArray(F, c, co + 3 * ldc + L);
    FloatVector s40 = FloatVector.fromArray(F, c, co + 4 * ldc);
    FloatVector s41 = FloatVector.fromArray(F, c, co + 4 * ldc + L);
    FloatVector s50 = FloatVector.fromArray(F, c, co + 5 * ldc);
    FloatVector s51 = FloatVector.fromArray(F, c, co + 5 * ldc + L);
    FloatVector s60 = FloatVector.fromArray(F, c, co + 6 * ldc);
    FloatVector s61 = FloatVector.fromArray(F, c, co + 6 * ldc + L);
    FloatVector s70 = FloatVector.fromArray(F, c, co + 7 * ldc);
    FloatVector s71 = FloatVector.fromArray(F, c, co + 7 * ldc + L);
    FloatVector x;
    for (int k = 0, q = ao, p = wo; k < depth; k++, q += 8, p += PANEL) {
      FloatVector w0 = FloatVector.fromArray(F, w, p);
      FloatVector w1 = FloatVector.fromArray(F, w, p + L);
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
    s00.intoArray(c, co);
    s01.intoArray(c, co + L);
    s10.intoArray(c, co + ldc);
    s11.intoArray(c, co + ldc + L);
    s20.intoArray(c, co + 2 * ldc);
    s21.intoArray(c, co + 2 * ldc + L);
    s30.intoArray(c, co + 3 * ldc);
    s31.intoArray(c, co + 3 * ldc + L);
    s40.intoArray(c, co + 4 * ldc);
    s41.intoArray(c, co + 4 * ldc + L);
    s50.intoArray(c, co + 5 * ldc);
    s51.intoArray(c, co + 5 * ldc + L);
    s60.intoArray(c, co + 6 * ldc);
    s61.intoArray(c, co + 6 * ldc + L);
    s70.intoArray(c, co + 7 * ldc);
    s71.intoArray(c, co + 7 * ldc + L);
  }
}
