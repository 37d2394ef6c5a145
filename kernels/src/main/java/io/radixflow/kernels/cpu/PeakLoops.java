package io.radixflow.kernels.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Loops that do nothing but read, or multiply and add, as fast as one thread can. */
public final class PeakLoops {
  private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
  private static final int CHAINS = 8;

  private PeakLoops() {}

  /**
   * Reads all of an array, whose length is a multiple of 64; returns something to keep it alive.
   */
  public static float read(float[] memory) {
    FloatVector a = FloatVector.zero(SPECIES);
    FloatVector b = a;
    FloatVector c = a;
    FloatVector d = a;
    int lanes = SPECIES.length();
    for (int i = 0; i < memory.length; i += 4 * lanes) {
      a = a.add(FloatVector.fromArray(SPECIES, memory, i));
      b = b.add(FloatVector.fromArray(SPECIES, memory, i + lanes));
      c = c.add(FloatVector.fromArray(SPECIES, memory, i + 2 * lanes));
      d = d.add(FloatVector.fromArray(SPECIES, memory, i + 3 * lanes));
    }
    return a.add(b).add(c.add(d)).lane(0);
  }

  /** Float operations of a round of {@link #multiplyAdd}: a fused multiply-add counts as two. */
  public static int flopsPerRound() {
    return 2 * CHAINS * SPECIES.length();
  }

  /** Multiplies and adds in registers, in as many chains as hide the latency. */
  public static float multiplyAdd(int rounds) {
    FloatVector factor = FloatVector.broadcast(SPECIES, 0.5f);
    FloatVector a = FloatVector.broadcast(SPECIES, rounds);
    FloatVector b = a;
    FloatVector c = a;
    FloatVector d = a;
    FloatVector e = a;
    FloatVector f = a;
    FloatVector g = a;
    FloatVector h = a;
    for (int i = 0; i < rounds; i++) {
      a = a.fma(factor, factor);
      b = b.fma(factor, factor);
      c = c.fma(factor, factor);
      d = d.fma(factor, factor);
      e = e.fma(factor, factor);
      f = f.fma(factor, factor);
      g = g.fma(factor, factor);
      h = h.fma(factor, factor);
    }
    return a.add(b).add(c.add(d)).add(e.add(f).add(g.add(h))).lane(0);
  }
}
