package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.CodeForm.BLOCK;
import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Unpacks codes of weights (see {@link CodeForm}) and sums their products. */
final class VectorCodes {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_PREFERRED;
  private static final int L = F.length();

  private VectorCodes() {}

  private static void store(IntVector code, float[] out, int at) {
    ((FloatVector) code.castShape(F, 0)).intoArray(out, at);
  }

  static void nibbles(int[] codes, int co, int blocks, float[] out) {
    for (int word = 0; word < blocks * 4; word++) {
      int k = word / 4 * BLOCK + word % 4 * 4;
      for (int i = 0; i < PANEL; i += L) {
        IntVector v = IntVector.fromArray(I, codes, co + word * PANEL + i);
        for (int j = 0; j < 4; j++) {
          int at = (k + j) * PANEL + i;
          store(v.and(15), out, at);
          v = v.lanewise(VectorOperators.LSHR, 4);
          store(v.and(15), out, at + 16 * PANEL);
          v = v.lanewise(VectorOperators.LSHR, 4);
        }
      }
    }
  }

  static void signedNibbles(int[] codes, int co, int blocks, float[] out) {
    for (int word = 0; word < blocks * 4; word++) {
      int k = word / 4 * BLOCK + word % 4 * 4;
      for (int i = 0; i < PANEL; i += L) {
        IntVector v = IntVector.fromArray(I, codes, co + word * PANEL + i);
        for (int j = 3; j >= 0; j--) {
          int at = (k + j) * PANEL + i;
          store(v.lanewise(VectorOperators.ASHR, 28), out, at + 16 * PANEL);
          v = v.lanewise(VectorOperators.LSHL, 4);
          store(v.lanewise(VectorOperators.ASHR, 28), out, at);
          v = v.lanewise(VectorOperators.LSHL, 4);
        }
      }
    }
  }

  static void bytes(int[] codes, int co, int blocks, float[] out) {
    for (int word = 0; word < blocks * 8; word++) {
      for (int i = 0; i < PANEL; i += L) {
        IntVector v = IntVector.fromArray(I, codes, co + word * PANEL + i);
        for (int j = 3; j >= 0; j--) {
          store(v.lanewise(VectorOperators.ASHR, 24), out, (word * 4 + j) * PANEL + i);
          v = v.lanewise(VectorOperators.LSHL, 8);
        }
      }
    }
  }

  static void sixes(int[] codes, int co, int blocks, float[] out) {
    for (int quad = 0; quad < blocks * 8; quad++) {
      for (int i = 0; i < PANEL; i += L) {
        IntVector v = nibblesOfQuad(codes, co + i, quad);
        IntVector h = highestOfQuad(codes, co + i, quad);
        for (int j = 0; j < 4; j++) {
          IntVector high = up(h, 30 - BIT[j]);
          store(
              high.lanewise(VectorOperators.ASHR, 26).and(~15).or(v.and(15)),
              out,
              (quad * 4 + j) * PANEL + i);
          v = v.lanewise(VectorOperators.LSHR, 8);
        }
      }
    }
  }

  /** Bit positions of the two highest bits of a quad's four columns. */
  static final int[] BIT = {0, 2, 16, 18};

  /** The lowest bits of four columns. The bits of column j are the lowest bits of byte j. */
  static IntVector nibblesOfQuad(int[] codes, int co, int quad) {
    int at = co + (quad / 8 * 6 + quad % 4) * PANEL;
    return down(IntVector.fromArray(I, codes, at), quad / 4 % 2 * 4);
  }

  /** The two highest bits of four columns, at the positions of {@link #BIT}. */
  static IntVector highestOfQuad(int[] codes, int co, int quad) {
    int at = co + (quad / 8 * 6 + 4 + quad / 4 % 2) * PANEL;
    return down(IntVector.fromArray(I, codes, at), quad % 4 * 4);
  }

  /**
   * Shifts all lanes left by a count that is not a constant. The count is made a vector, because
   * with a scalar the compiler of JDK 17 may shift only the first lane (JDK-8277239).
   */
  static IntVector up(IntVector v, int count) {
    return v.lanewise(VectorOperators.LSHL, IntVector.broadcast(I, count));
  }

  /** Shifts all lanes right, without sign, by a count that is not a constant. See {@link #up}. */
  static IntVector down(IntVector v, int count) {
    return v.lanewise(VectorOperators.LSHR, IntVector.broadcast(I, count));
  }

  static void partsOfSixes(int[] codes, int co, int blocks, float[] high, float[] low) {
    for (int quad = 0; quad < blocks * 8; quad++) {
      for (int i = 0; i < PANEL; i += L) {
        IntVector v = nibblesOfQuad(codes, co + i, quad);
        IntVector h = highestOfQuad(codes, co + i, quad);
        for (int j = 0; j < 4; j++) {
          int at = (quad * 4 + j) * PANEL + i;
          IntVector bits = up(h, 30 - BIT[j]);
          store(bits.lanewise(VectorOperators.ASHR, 30), high, at);
          store(v.and(15), low, at);
          v = v.lanewise(VectorOperators.LSHR, 8);
        }
      }
    }
  }

  static void partsOfBytes(int[] codes, int co, int blocks, float[] high, float[] low) {
    for (int word = 0; word < blocks * 8; word++) {
      for (int i = 0; i < PANEL; i += L) {
        IntVector v = IntVector.fromArray(I, codes, co + word * PANEL + i);
        for (int j = 3; j >= 0; j--) {
          int at = (word * 4 + j) * PANEL + i;
          store(v.lanewise(VectorOperators.ASHR, 28), high, at);
          store(v.lanewise(VectorOperators.LSHR, 24).and(15), low, at);
          v = v.lanewise(VectorOperators.LSHL, 8);
        }
      }
    }
  }

  static void scale(float[] w, float[] scales, int block, boolean minima, int depth) {
    for (int k = 0, so = 0; k < depth; k += block, so += minima ? 2 * PANEL : PANEL) {
      for (int i = 0; i < PANEL; i += L) {
        if (minima) {
          scaleWithMinima(w, k * PANEL + i, scales, so + i, block);
        } else {
          scaleAlone(w, k * PANEL + i, scales, so + i, block);
        }
      }
    }
  }

  private static void scaleAlone(float[] w, int at, float[] scales, int so, int block) {
    FloatVector d = FloatVector.fromArray(F, scales, so);
    for (int k = 0; k < block; k++) {
      FloatVector.fromArray(F, w, at + k * PANEL).mul(d).intoArray(w, at + k * PANEL);
    }
  }

  private static void scaleWithMinima(float[] w, int at, float[] scales, int so, int block) {
    FloatVector d = FloatVector.fromArray(F, scales, so);
    FloatVector m = FloatVector.fromArray(F, scales, so + PANEL);
    for (int k = 0; k < block; k++) {
      FloatVector.fromArray(F, w, at + k * PANEL).fma(d, m).intoArray(w, at + k * PANEL);
    }
  }

  static void addScaled(
      int rows,
      float[] sums,
      float[] high,
      float[] scales,
      int so,
      float[] rowScales,
      float[] rowMinima,
      float[] c,
      int co,
      int ldc) {
    if (high != null) {
      addHigh(rows * PANEL, high, sums);
    }
    for (int i = 0; i < PANEL; i += L) {
      if (rowMinima == null) {
        addAlone(rows, sums, i, scales, so + i, rowScales, c, co + i, ldc);
      } else {
        addWithMinima(rows, sums, i, scales, so + i, rowScales, rowMinima, c, co + i, ldc);
      }
    }
  }

  private static void addHigh(int count, float[] high, float[] sums) {
    FloatVector sixteen = FloatVector.broadcast(F, 16);
    for (int i = 0; i < count; i += L) {
      FloatVector.fromArray(F, high, i)
          .fma(sixteen, FloatVector.fromArray(F, sums, i))
          .intoArray(sums, i);
    }
  }

  private static void addAlone(
      int rows,
      float[] sums,
      int at,
      float[] scales,
      int so,
      float[] rowScales,
      float[] c,
      int co,
      int ldc) {
    FloatVector d = FloatVector.fromArray(F, scales, so);
    for (int row = 0; row < rows; row++) {
      int out = co + row * ldc;
      d.mul(rowScales[row])
          .fma(FloatVector.fromArray(F, sums, at + row * PANEL), FloatVector.fromArray(F, c, out))
          .intoArray(c, out);
    }
  }

  private static void addWithMinima(
      int rows,
      float[] sums,
      int at,
      float[] scales,
      int so,
      float[] rowScales,
      float[] rowMinima,
      float[] c,
      int co,
      int ldc) {
    FloatVector d = FloatVector.fromArray(F, scales, so);
    FloatVector m = FloatVector.fromArray(F, scales, so + PANEL);
    for (int row = 0; row < rows; row++) {
      int out = co + row * ldc;
      FloatVector sum =
          d.mul(rowScales[row])
              .fma(
                  FloatVector.fromArray(F, sums, at + row * PANEL),
                  FloatVector.fromArray(F, c, out));
      m.fma(FloatVector.broadcast(F, rowMinima[row]), sum).intoArray(c, out);
    }
  }
}
