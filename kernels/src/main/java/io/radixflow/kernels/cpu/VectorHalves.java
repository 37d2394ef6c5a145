package io.radixflow.kernels.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Widening of 16-bit floats. */
final class VectorHalves {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Short> S =
      VectorSpecies.of(short.class, VectorShape.forBitSize(F.vectorBitSize() / 2));
  private static final int L = F.length();

  private VectorHalves() {}

  static void widenHalf(short[] source, int so, int count, float[] out, int oo) {
    for (int i = 0; i < count; i += L) {
      IntVector half = (IntVector) ShortVector.fromArray(S, source, so + i).castShape(I, 0);
      IntVector magnitude = half.and(0x7fff);
      IntVector bits =
          magnitude
              .lanewise(VectorOperators.LSHL, 13)
              .reinterpretAsFloats()
              .mul(Float16.REBIAS)
              .reinterpretAsInts();
      IntVector special =
          bits.blend(bits.or(0x7f800000), magnitude.compare(VectorOperators.GE, 0x7c00));
      special
          .or(half.and(0x8000).lanewise(VectorOperators.LSHL, 16))
          .reinterpretAsFloats()
          .intoArray(out, oo + i);
    }
  }

  static void widenBrain(short[] source, int so, int count, float[] out, int oo) {
    for (int i = 0; i < count; i += L) {
      IntVector half = (IntVector) ShortVector.fromArray(S, source, so + i).castShape(I, 0);
      half.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats().intoArray(out, oo + i);
    }
  }
}
