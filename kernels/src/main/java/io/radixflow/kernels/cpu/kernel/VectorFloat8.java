package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.model.Float8;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Panels of 8-bit floats with a scale. */
final class VectorFloat8 {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_PREFERRED;
  private static final int L = F.length();

  private VectorFloat8() {}

  /** Codes that are numbers of four exponent and three mantissa bits as floats. */
  private static FloatVector code(byte[] codes, int at) {
    int start = L < 8 ? at & -8 : at;
    IntVector bits =
        (IntVector)
            ByteVector.fromArray(VectorBytes.B, codes, start).castShape(I, (at - start) / L);
    IntVector magnitude =
        bits.and(0x7f)
            .lanewise(VectorOperators.LSHL, 20)
            .reinterpretAsFloats()
            .mul(Float8.REBIAS)
            .reinterpretAsInts();
    return magnitude.or(bits.and(0x80000000)).reinterpretAsFloats();
  }

  static void unpack(byte[] codes, int co, float[] scales, int block, int blocks, float[] out) {
    int shift = Integer.numberOfTrailingZeros(block);
    for (int i = 0; i < PANEL; i += L) {
      unpackColumn(codes, co + i, scales, i, shift, blocks * block, out, i);
    }
  }

  private static void unpackColumn(
      byte[] codes, int co, float[] scales, int so, int shift, int depth, float[] out, int oo) {
    for (int k = 0; k < depth; k += 2) {
      int c = co + k * PANEL;
      int o = oo + k * PANEL;
      FloatVector d = FloatVector.fromArray(F, scales, so + (k >> shift) * 2 * PANEL);
      code(codes, c).mul(d).intoArray(out, o);
      code(codes, c + PANEL).mul(d).intoArray(out, o + PANEL);
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
    for (int k = 0; k < block; k++) {
      FloatVector b = FloatVector.broadcast(F, x[xo + k]);
      s0 = code(codes, co + k * PANEL).mul(d0).fma(b, s0);
      s1 = code(codes, co + k * PANEL + L).mul(d1).fma(b, s1);
    }
    s0.intoArray(out, oo);
    s1.intoArray(out, oo + L);
  }
}
