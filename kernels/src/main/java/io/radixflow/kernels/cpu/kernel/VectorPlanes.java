package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Widens codes of a few bits to bytes. Vectors are bytes in memory and ints in registers, where
 * shifts exist at every width; masks cut off what comes from a neighbour. Two byte rows of a plane
 * lie together and are treated as one, so that 512 bits are full. A loop has two stores: JDK 17 and
 * 25 made objects of the vectors of loops with four, in some runs.
 */
final class VectorPlanes {

  private static final VectorSpecies<Byte> B = ByteVector.SPECIES_PREFERRED;
  private static final int WIDTH = B.length();

  /** Bytes of two rows. */
  private static final int PAIR = 2 * PANEL;

  private static final int OUT = BitPlanes.GROUP * PANEL;
  private static final int ONES = 0x01010101;

  private VectorPlanes() {}

  static void unpack(int bits, byte[] planes, int po, int columns, byte[] out) {
    int groups = columns / BitPlanes.GROUP;
    for (int i = 0; i < PAIR; i += WIDTH) {
      for (int pair = 0; pair < 4; pair++) {
        int nibblesAt = po + pair * PAIR + i;
        int pairsAt = po + pair % 2 * PAIR + i;
        int bitsAt = po + (bits - 1) * PAIR + i;
        int to = pair * PAIR + i;
        switch (bits) {
          case 2 -> pairs(planes, pairsAt, pair & 2, groups, out, to);
          case 3 -> pairsAndBits(planes, pairsAt, bitsAt, pair, groups, out, to);
          case 5 -> nibblesAndBits(planes, nibblesAt, bitsAt, pair, groups, out, to);
          default -> throw new IllegalArgumentException("no codes of " + bits + " bits");
        }
      }
    }
  }

  private static IntVector load(byte[] planes, int at) {
    return ByteVector.fromArray(B, planes, at).reinterpretAsInts();
  }

  private static void store(IntVector codes, byte[] out, int at) {
    codes.reinterpretAsBytes().intoArray(out, at);
  }

  /** Codes of 2 bits: every fourth pair of columns. */
  private static void pairs(byte[] planes, int at, int shift, int groups, byte[] out, int oo) {
    for (int g = 0; g < groups; g++) {
      int o = oo + g * OUT;
      IntVector codes = load(planes, at + g * 2 * PAIR).lanewise(LSHR, shift);
      store(codes.and(3 * ONES), out, o);
      store(codes.lanewise(LSHR, 4).and(3 * ONES), out, o + 4 * PAIR);
    }
  }

  /** Codes of 3 bits: every fourth pair of columns. */
  private static void pairsAndBits(
      byte[] planes, int at, int bitsAt, int pair, int groups, byte[] out, int oo) {
    int shift = pair & 2;
    for (int g = 0; g < groups; g++) {
      int o = oo + g * OUT;
      IntVector low = load(planes, at + g * 3 * PAIR).lanewise(LSHR, shift);
      IntVector top = load(planes, bitsAt + g * 3 * PAIR).lanewise(LSHR, pair);
      store(low.and(3 * ONES).or(top.lanewise(LSHL, 2).and(4 * ONES)), out, o);
      low = low.lanewise(LSHR, 4);
      top = top.lanewise(LSHR, 2);
      store(low.and(3 * ONES).or(top.and(4 * ONES)), out, o + 4 * PAIR);
    }
  }

  /** Codes of 5 bits: every fourth pair of columns. */
  private static void nibblesAndBits(
      byte[] planes, int at, int bitsAt, int shift, int groups, byte[] out, int oo) {
    for (int g = 0; g < groups; g++) {
      int o = oo + g * OUT;
      IntVector low = load(planes, at + g * 5 * PAIR);
      IntVector top = load(planes, bitsAt + g * 5 * PAIR).lanewise(LSHR, shift);
      store(low.and(15 * ONES).or(top.lanewise(LSHL, 4).and(16 * ONES)), out, o);
      store(low.lanewise(LSHR, 4).and(15 * ONES).or(top.and(16 * ONES)), out, o + 4 * PAIR);
    }
  }
}
