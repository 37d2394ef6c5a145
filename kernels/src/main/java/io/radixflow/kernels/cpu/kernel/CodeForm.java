package io.radixflow.kernels.cpu.kernel;

/**
 * The layout of weight codes in words of 32 bits. A block of {@value #BLOCK} columns of a panel is
 * {@code int[words][PANEL]}. The constants have the same order as in kernels.h, because native code
 * reads the codes too.
 */
public enum CodeForm {
  /**
   * Numbers from 0 to 15. Byte j of word w has the code of column 4w + j in its low nibble and the
   * code of column 16 + 4w + j in its high nibble, like Q4_0 in GGUF.
   */
  NIBBLE(4),
  /** Numbers from -8 to 7, in the layout of {@link #NIBBLE}. */
  SIGNED_NIBBLE(4),
  /** Numbers from -128 to 127. Byte j of word w is the code of column 4w + j. */
  BYTE(8),
  /**
   * Numbers from -32 to 31. The first four words have the four lowest bits, in the layout of {@link
   * #NIBBLE}. The two highest bits of column 16h + 4w + j are in word 4 + h, at bits 4w + 2 (j mod
   * 2) and the next; in the lower 16 bits if j is below 2, else in the higher 16 bits.
   */
  SIX(6);

  /** Columns of a block. */
  public static final int BLOCK = 32;

  private final int words;

  CodeForm(int words) {
    this.words = words;
  }

  /** Words per row of a block. */
  public int words() {
    return words;
  }

  /** Bits per code. */
  public int bits() {
    return words;
  }

  /**
   * The code of one column.
   *
   * @param codes contains the words of a panel's block from {@code at} on
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
   * Returns the two highest bits of the four codes in a word of {@link #BYTE}, in the layout of
   * {@link #SIX}.
   */
  public static int highest(int bytes) {
    int bits = bytes >>> 4 & 0x03030303;
    return (bits | bits >>> 6) & 0x000f000f;
  }
}
