package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.CodeForm.BLOCK;
import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums of products of one row of integers with blocks of codes, which are unpacked in registers.
 * Decoding a single sequence uses this code. Each block is computed in a method of its own, because
 * JDK 17 boxes vectors that live across nested loops.
 */
final class VectorOneRow {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_PREFERRED;
  private static final int L = F.length();

  private VectorOneRow() {}

  static void nibbles(int[] codes, int co, int blocks, float[] x, float[] sums) {
    for (int b = 0; b < blocks; b++) {
      for (int i = 0; i < PANEL; i += 2 * L) {
        nibblesOfBlock(codes, co + b * 4 * PANEL + i, x, b * BLOCK, sums, b * PANEL + i);
      }
    }
  }

  private static void nibblesOfBlock(int[] codes, int at, float[] x, int k, float[] sums, int to) {
    FloatVector s0 = FloatVector.zero(F);
    FloatVector s1 = FloatVector.zero(F);
    for (int w = 0; w < 4; w++) {
      IntVector v0 = IntVector.fromArray(I, codes, at + w * PANEL);
      IntVector v1 = IntVector.fromArray(I, codes, at + w * PANEL + L);
      for (int j = 0; j < 4; j++) {
        FloatVector a = FloatVector.broadcast(F, x[k + 4 * w + j]);
        s0 = low(v0).fma(a, s0);
        s1 = low(v1).fma(a, s1);
        v0 = v0.lanewise(VectorOperators.LSHR, 4);
        v1 = v1.lanewise(VectorOperators.LSHR, 4);
        a = FloatVector.broadcast(F, x[k + 16 + 4 * w + j]);
        s0 = low(v0).fma(a, s0);
        s1 = low(v1).fma(a, s1);
        v0 = v0.lanewise(VectorOperators.LSHR, 4);
        v1 = v1.lanewise(VectorOperators.LSHR, 4);
      }
    }
    s0.intoArray(sums, to);
    s1.intoArray(sums, to + L);
  }

  private static FloatVector low(IntVector codes) {
    return (FloatVector) codes.and(15).castShape(F, 0);
  }

  static void signedNibbles(int[] codes, int co, int blocks, float[] x, float[] sums) {
    for (int b = 0; b < blocks; b++) {
      for (int i = 0; i < PANEL; i += 2 * L) {
        signedNibblesOfBlock(codes, co + b * 4 * PANEL + i, x, b * BLOCK, sums, b * PANEL + i);
      }
    }
  }

  private static void signedNibblesOfBlock(
      int[] codes, int at, float[] x, int k, float[] sums, int to) {
    FloatVector s0 = FloatVector.zero(F);
    FloatVector s1 = FloatVector.zero(F);
    for (int w = 0; w < 4; w++) {
      IntVector v0 = IntVector.fromArray(I, codes, at + w * PANEL);
      IntVector v1 = IntVector.fromArray(I, codes, at + w * PANEL + L);
      for (int j = 3; j >= 0; j--) {
        FloatVector a = FloatVector.broadcast(F, x[k + 16 + 4 * w + j]);
        s0 = high(v0, 28).fma(a, s0);
        s1 = high(v1, 28).fma(a, s1);
        v0 = v0.lanewise(VectorOperators.LSHL, 4);
        v1 = v1.lanewise(VectorOperators.LSHL, 4);
        a = FloatVector.broadcast(F, x[k + 4 * w + j]);
        s0 = high(v0, 28).fma(a, s0);
        s1 = high(v1, 28).fma(a, s1);
        v0 = v0.lanewise(VectorOperators.LSHL, 4);
        v1 = v1.lanewise(VectorOperators.LSHL, 4);
      }
    }
    s0.intoArray(sums, to);
    s1.intoArray(sums, to + L);
  }

  private static FloatVector high(IntVector codes, int bits) {
    return (FloatVector) codes.lanewise(VectorOperators.ASHR, bits).castShape(F, 0);
  }

  /** Adds in integers, because a sum of bytes may have more bits than a float. */
  static void bytes(int[] codes, int co, int block, int blocks, int[] x, float[] sums) {
    for (int b = 0; b < blocks; b++) {
      for (int i = 0; i < PANEL; i += 2 * L) {
        int at = co + b * block / 4 * PANEL + i;
        bytesOfBlock(block / 4, codes, at, x, b * block, sums, b * PANEL + i);
      }
    }
  }

  /** Adds the products in integers. */
  static void sixes(int[] codes, int co, int block, int blocks, int[] x, float[] sums) {
    for (int b = 0; b < blocks; b++) {
      for (int i = 0; i < PANEL; i += 2 * L) {
        sixesOfBlock(b * block / 4, (b + 1) * block / 4, codes, co + i, x, sums, b * PANEL + i);
      }
    }
  }

  private static void sixesOfBlock(
      int firstQuad, int endQuad, int[] codes, int co, int[] x, float[] sums, int to) {
    IntVector s0 = IntVector.zero(I);
    IntVector s1 = IntVector.zero(I);
    for (int quad = firstQuad; quad < endQuad; quad++) {
      IntVector v0 = VectorCodes.nibblesOfQuad(codes, co, quad);
      IntVector v1 = VectorCodes.nibblesOfQuad(codes, co + L, quad);
      IntVector h0 = VectorCodes.highestOfQuad(codes, co, quad);
      IntVector h1 = VectorCodes.highestOfQuad(codes, co + L, quad);
      for (int j = 0; j < 4; j++) {
        int up = 30 - VectorCodes.BIT[j];
        IntVector a = IntVector.broadcast(I, x[4 * quad + j]);
        s0 = s0.add(six(v0, h0, 8 * j, up).mul(a));
        s1 = s1.add(six(v1, h1, 8 * j, up).mul(a));
      }
    }
    ((FloatVector) s0.castShape(F, 0)).intoArray(sums, to);
    ((FloatVector) s1.castShape(F, 0)).intoArray(sums, to + L);
  }

  private static IntVector six(IntVector nibbles, IntVector highest, int down, int up) {
    IntVector low = VectorCodes.down(nibbles, down).and(15);
    IntVector high = VectorCodes.up(highest, up).lanewise(VectorOperators.ASHR, 26);
    return high.and(~15).or(low);
  }

  private static void bytesOfBlock(
      int words, int[] codes, int at, int[] x, int k, float[] sums, int to) {
    IntVector s0 = IntVector.zero(I);
    IntVector s1 = IntVector.zero(I);
    for (int w = 0; w < words; w++) {
      IntVector v0 = IntVector.fromArray(I, codes, at + w * PANEL);
      IntVector v1 = IntVector.fromArray(I, codes, at + w * PANEL + L);
      for (int j = 3; j >= 0; j--) {
        IntVector a = IntVector.broadcast(I, x[k + 4 * w + j]);
        s0 = s0.add(v0.lanewise(VectorOperators.ASHR, 24).mul(a));
        s1 = s1.add(v1.lanewise(VectorOperators.ASHR, 24).mul(a));
        v0 = v0.lanewise(VectorOperators.LSHL, 8);
        v1 = v1.lanewise(VectorOperators.LSHL, 8);
      }
    }
    ((FloatVector) s0.castShape(F, 0)).intoArray(sums, to);
    ((FloatVector) s1.castShape(F, 0)).intoArray(sums, to + L);
  }
}
