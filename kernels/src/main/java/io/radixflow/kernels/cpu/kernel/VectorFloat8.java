package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.models.Float8;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Unpacks panels of 8-bit floats. */
final class VectorFloat8 {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_PREFERRED;
  private static final int L = F.length();

  /**
   * A vector with as many bytes as a float vector has floats. For 128-bit float vectors it has 64
   * bits, of which the lower half is used.
   */
  private static final VectorSpecies<Byte> B =
      VectorSpecies.of(byte.class, VectorShape.forBitSize(Math.max(64, F.vectorBitSize() / 4)));

  private VectorFloat8() {}

  static void unpack(
      byte[] codes, int co, float[] scales, int so, int block, int blocks, float[] out) {
    for (int b = 0; b < blocks; b++) {
      for (int i = 0; i < PANEL; i += L) {
        int from = b * block * PANEL + i;
        unpackBlock(codes, co + from, scales, so + b * PANEL + i, block, out, from);
      }
    }
  }

  private static void unpackBlock(
      byte[] codes, int co, float[] scales, int so, int block, float[] out, int oo) {
    FloatVector d = FloatVector.fromArray(F, scales, so);
    for (int k = 0; k < block; k++) {
      float8(codes, co + k * PANEL).mul(d).intoArray(out, oo + k * PANEL);
    }
  }

  static void widen(byte[] codes, int co, int count, float[] out, int oo) {
    for (int i = 0; i < count; i += L) {
      float8(codes, co + i).intoArray(out, oo + i);
    }
  }

  /** Converts E4M3 codes (four exponent bits, three mantissa bits) to floats. */
  private static FloatVector float8(byte[] codes, int at) {
    int start = L < 8 ? at & -8 : at;
    IntVector bits =
        (IntVector) ByteVector.fromArray(B, codes, start).castShape(I, (at - start) / L);
    IntVector magnitude =
        bits.and(0x7f)
            .lanewise(VectorOperators.LSHL, 20)
            .reinterpretAsFloats()
            .mul(Float8.REBIAS)
            .reinterpretAsInts();
    return magnitude.or(bits.and(0x80000000)).reinterpretAsFloats();
  }
}
