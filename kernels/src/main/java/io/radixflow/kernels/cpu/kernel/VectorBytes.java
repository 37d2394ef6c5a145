package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Panels of 8-bit codes with a scale and a minimum. */
final class VectorBytes {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final int L = F.length();

  /** Has as many bytes as a vector has floats; the lower half of 64 bits for 128-bit vectors. */
  static final VectorSpecies<Byte> B =
      VectorSpecies.of(byte.class, VectorShape.forBitSize(Math.max(64, F.vectorBitSize() / 4)));

  private VectorBytes() {}

  /** Codes of one vector's lanes as floats. */
  static FloatVector code(byte[] codes, int at) {
    if (L < 8) {
      // No shape of four bytes: the upper half of an aligned pair is the cast's part 1.
      int pair = at & -8;
      return (FloatVector) ByteVector.fromArray(B, codes, pair).castShape(F, (at - pair) / L);
    }
    return (FloatVector) ByteVector.fromArray(B, codes, at).castShape(F, 0);
  }

  static void unpack(byte[] codes, int co, float[] scales, int block, int blocks, float[] out) {
    int shift = Integer.numberOfTrailingZeros(block);
    for (int i = 0; i < PANEL; i += L) {
      unpackColumn(codes, co + i, scales, i, shift, blocks * block, out, i);
    }
  }

  private static void unpackColumn(
      byte[] codes, int co, float[] scales, int so, int shift, int depth, float[] out, int oo) {
    for (int k = 0; k < depth; k += 4) {
      int scale = so + (k >> shift) * 2 * PANEL;
      int c = co + k * PANEL;
      int o = oo + k * PANEL;
      FloatVector d = FloatVector.fromArray(F, scales, scale);
      FloatVector m = FloatVector.fromArray(F, scales, scale + PANEL);
      code(codes, c).fma(d, m).intoArray(out, o);
      code(codes, c + PANEL).fma(d, m).intoArray(out, o + PANEL);
      code(codes, c + 2 * PANEL).fma(d, m).intoArray(out, o + 2 * PANEL);
      code(codes, c + 3 * PANEL).fma(d, m).intoArray(out, o + 3 * PANEL);
    }
  }

  static void timesVector(
      byte[] codes,
      int co,
      float[] scales,
      int block,
      int blocks,
      float[] x,
      int xo,
      float[] out,
      int oo) {
    for (int b = 0; b < blocks; b++) {
      for (int i = 0; i < PANEL; i += 2 * L) {
        int from = co + b * block * PANEL + i;
        timesTwo(codes, from, scales, b * 2 * PANEL + i, block, x, xo + b * block, out, oo + i);
      }
    }
  }

  private static void timesTwo(
      byte[] codes,
      int co,
      float[] scales,
      int so,
      int block,
      float[] x,
      int xo,
      float[] out,
      int oo) {
    FloatVector s0 = FloatVector.fromArray(F, out, oo);
    FloatVector s1 = FloatVector.fromArray(F, out, oo + L);
    FloatVector d0 = FloatVector.fromArray(F, scales, so);
    FloatVector d1 = FloatVector.fromArray(F, scales, so + L);
    FloatVector m0 = FloatVector.fromArray(F, scales, so + PANEL);
    FloatVector m1 = FloatVector.fromArray(F, scales, so + PANEL + L);
    for (int k = 0; k < block; k++) {
      FloatVector b = FloatVector.broadcast(F, x[xo + k]);
      s0 = code(codes, co + k * PANEL).fma(d0, m0).fma(b, s0);
      s1 = code(codes, co + k * PANEL + L).fma(d1, m1).fma(b, s1);
    }
    s0.intoArray(out, oo);
    s1.intoArray(out, oo + L);
  }
}
