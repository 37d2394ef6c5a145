package io.radixflow.kernels.model.tensor;

import java.nio.ByteBuffer;

/**
 * A matrix of unsigned integers of 4 or 8 bits, several to a 32-bit word.
 *
 * @param words little-endian
 * @param bits 4 or 8
 * @param width columns of the matrix of integers
 * @param packing which integers share a word
 */
public record PackedIntegers(ByteBuffer words, int bits, int width, Packing packing) {

  /** The integers of a word, lowest bits first. */
  public enum Packing {
    /** Consecutive rows: {@code qweight} of GPTQ. */
    DOWN,
    /** Consecutive columns: {@code qzeros} of GPTQ. */
    ACROSS,
    /**
     * Eight consecutive columns in the order 0, 2, 4, 6, 1, 3, 5, 7: AWQ (AutoAWQ's {@code
     * awq/utils/packing_utils.py}).
     */
    AWQ
  }

  /** Nibble of each of eight columns. */
  private static final int[] AWQ_NIBBLES = {0, 4, 1, 5, 2, 6, 3, 7};

  int at(int row, int column) {
    int each = Integer.SIZE / bits;
    boolean down = packing == Packing.DOWN;
    int word = down ? row / each * width + column : row * (width / each) + column / each;
    int within = down ? row % each : column % each;
    int shift = (packing == Packing.AWQ ? AWQ_NIBBLES[within] : within) * bits;
    return words.getInt(word * Integer.BYTES) >>> shift & (1 << bits) - 1;
  }
}
