package io.radixflow.kernels.cpu.kernel;

/**
 * The layout of weight codes in words of 32 bits: a block of {@value #BLOCK} columns of a panel is
 * {@code int[words][PANEL]}. The order of constants is the same as in kernels.h, which also reads
 * the codes.
 */
public enum CodeForm {
  /**
   * Numbers of 0 to 15. Byte j of word w has the code of column 4w + j in its low and that of
   * column 16 + 4w + j in its high nibble, as Q4_0 of GGUF has them.
   */
  NIBBLE(4),
  /** Numbers of -8 to 7, in the order of {@link #NIBBLE}. */
  SIGNED_NIBBLE(4),
  /** Numbers of -128 to 127: byte j of word w has the code of column 4w + j. */
  BYTE(8),
  /**
   * Numbers of -32 to 31. The first four words have the four lowest bits in the order of {@link
   * #NIBBLE}. The two highest bits of column 16h + 4w + j are bits 4w + 2 (j mod 2), and the next,
   * of the lower (j below 2) or higher 16 bits of word 4 + h.
   */
  SIX(6);

  /** Columns of a block. */
  public static final int BLOCK = 32;

  private final int words;

  CodeForm(int words) {
    this.words = words;
  }

  /** Words of a row's block. */
  public int words() {
    return words;
  }

  /** Bits of a code. */
  public int bits() {
    return words;
  }

  /**
   * The code of one column.
   *
   * @param codes words of a panel's block from {@code at} on
   * @param column column within the block
   */
  public int code(int[] codes, int at, int column, int lane) {
    if (this == BYTE) {
      return (byte) (codes[at + (column >> 2) * Kernels.PANEL + lane] >> (column & 3) * 8);
    }
    int word = codes[at + (column >> 2 & 3) * Kernels.PANEL + lane];
    int nibble = word >>> (column & 3) * 8 + (column >> 4) * 4 & 15;
    if (this == SIX) {
      return highest(codes, at, column, lane) * 16 + nibble;
    }
    return this == NIBBLE ? nibble : (nibble ^ 8) - 8;
  }

  /** The two highest bits of {@link #SIX}, -2 to 1. */
  private static int highest(int[] codes, int at, int column, int lane) {
    int bit = (column & 2) * 8 + (column >> 2 & 3) * 4 + (column & 1) * 2;
    return codes[at + (4 + (column >> 4)) * Kernels.PANEL + lane] << 30 - bit >> 30;
  }

  /**
   * The two highest bits of the four codes in a word of {@link #BYTE}, as {@link #SIX} has them.
   */
  public static int highest(int bytes) {
    int bits = bytes >>> 4 & 0x03030303;
    return (bits | bits >>> 6) & 0x000f000f;
  }
}
