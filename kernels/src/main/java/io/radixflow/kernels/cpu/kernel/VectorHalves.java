package io.radixflow.kernels.cpu.kernel;

import io.radixflow.models.Float16;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Widens 16-bit floats. */
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
      FloatVector value =
          magnitude.lanewise(VectorOperators.LSHL, 13).reinterpretAsFloats().mul(Float16.REBIAS);
      // Adding 0x400 carries into bit 15 only for infinity and NaN. Their exponent becomes 255.
      IntVector special =
          magnitude
              .add(0x400)
              .lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 8)
              .and(0x7f800000);
      IntVector sign = half.and(0x8000).lanewise(VectorOperators.LSHL, 16);
      value.reinterpretAsInts().or(special).or(sign).reinterpretAsFloats().intoArray(out, oo + i);
    }
  }

  static void widenBfloat16(short[] source, int so, int count, float[] out, int oo) {
    for (int i = 0; i < count; i += L) {
      IntVector half = (IntVector) ShortVector.fromArray(S, source, so + i).castShape(I, 0);
      half.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats().intoArray(out, oo + i);
    }
  }
}
