package io.radixflow.text.tokenizer;

import java.util.Arrays;

/**
 * The printable characters that GPT-2's vocabulary uses for bytes. A byte that is a printable
 * Latin-1 character is that character. The other 68 bytes are U+0100 to U+0143, in the order of the
 * bytes.
 */
final class ByteAlphabet {

  private static final char[] CHAR_OF = new char[256];
  private static final short[] BYTE_OF = new short[0x144];

  static {
    Arrays.fill(BYTE_OF, (short) -1);
    int next = 256;
    for (int b = 0; b < 256; b++) {
      boolean printable = b > 32 && b < 127 || b > 160 && b != 173;
      CHAR_OF[b] = (char) (printable ? b : next++);
      BYTE_OF[CHAR_OF[b]] = (short) b;
    }
  }

  private ByteAlphabet() {}

  /** The character for a byte (0 to 255). */
  static char charOf(int value) {
    return CHAR_OF[value];
  }

  /** The byte (0 to 255) of a character; -1 if the character is not in the alphabet. */
  static int byteOf(char c) {
    return c < BYTE_OF.length ? BYTE_OF[c] : -1;
  }
}
