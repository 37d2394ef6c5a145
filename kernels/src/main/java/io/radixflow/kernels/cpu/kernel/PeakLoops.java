package io.radixflow.kernels.cpu.kernel;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Loops for measuring the machine: they only read, or only multiply and add, as fast as one thread
 * can.
 */
public final class PeakLoops {
  private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;

  private PeakLoops() {}

  /**
   * Reads a whole array, whose length is a multiple of 64. Returns a sum, so that the compiler
   * keeps the reads.
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

  /**
   * Float operations per round of {@link #multiplyAdd}. A fused multiply-add counts as two.
   *
   * @param chains 8 or 12
   */
  public static int flopsPerRound(int chains) {
    return 2 * chains * SPECIES.length();
  }

  /**
   * Multiplies and adds in registers, in independent chains. The best number of chains, which hides
   * the latency and still fits into the registers, depends on machine and JDK.
   *
   * @param chains 8 or 12
   * @param rounds some thousands. Call the method often instead of using more rounds, because code
   *     that C2 compiles while a loop runs is slow.
   */
  public static float multiplyAdd(int chains, int rounds) {
    return chains == 8 ? eight(rounds) : twelve(rounds);
  }

  /** Chains start with different values, because the compiler merges equal chains. */
  private static FloatVector chain(int number) {
    return FloatVector.broadcast(SPECIES, number);
  }

  private static float eight(int rounds) {
    FloatVector x = chain(1);
    FloatVector y = FloatVector.broadcast(SPECIES, 0.5f);
    FloatVector a = chain(0);
    FloatVector b = chain(1);
    FloatVector c = chain(2);
    FloatVector d = chain(3);
    FloatVector e = chain(4);
    FloatVector f = chain(5);
    FloatVector g = chain(6);
    FloatVector h = chain(7);
    for (int i = 0; i < rounds; i++) {
      a = x.fma(y, a);
      b = x.fma(y, b);
      c = x.fma(y, c);
      d = x.fma(y, d);
      e = x.fma(y, e);
      f = x.fma(y, f);
      g = x.fma(y, g);
      h = x.fma(y, h);
    }
    return a.add(b).add(c.add(d)).add(e.add(f).add(g.add(h))).lane(0);
  }

  private static float twelve(int rounds) {
    FloatVector x = chain(1);
    FloatVector y = FloatVector.broadcast(SPECIES, 0.5f);
    FloatVector a = chain(0);
    FloatVector b = chain(1);
    FloatVector c = chain(2);
    FloatVector d = chain(3);
    FloatVector e = chain(4);
    FloatVector f = chain(5);
    FloatVector g = chain(6);
    FloatVector h = chain(7);
    FloatVector k = chain(8);
    FloatVector l = chain(9);
    FloatVector m = chain(10);
    FloatVector n = chain(11);
    for (int i = 0; i < rounds; i++) {
      a = x.fma(y, a);
      b = x.fma(y, b);
      c = x.fma(y, c);
      d = x.fma(y, d);
      e = x.fma(y, e);
      f = x.fma(y, f);
      g = x.fma(y, g);
      h = x.fma(y, h);
      k = x.fma(y, k);
      l = x.fma(y, l);
      m = x.fma(y, m);
      n = x.fma(y, n);
    }
    FloatVector front = a.add(b).add(c.add(d)).add(e.add(f).add(g.add(h)));
    return front.add(k.add(l).add(m.add(n))).lane(0);
  }
}
