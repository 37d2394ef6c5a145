package io.radixflow.kernels.text.pretokenizer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The four classes of code points that pre-tokenizers distinguish, pinned to Unicode 16.0.
 *
 * <p>The JDK's own tables follow its release (13.0 in JDK 17, 16.0 in JDK 25), and a prompt must
 * not get other token ids with another JDK.
 */
public final class UnicodeClasses {

  /** Neither letter, number nor white space; also whatever Unicode 16.0 does not assign. */
  static final byte OTHER = 0;

  /** General category L. */
  static final byte LETTER = 1;

  /** General category N. */
  static final byte NUMBER = 2;

  /** Property White_Space: includes U+0085 and U+00A0, not U+001C to U+001F nor U+200B. */
  public static final byte SPACE = 3;

  private static final String RESOURCE = "unicode-16.txt";

  /** Letters and numbers end at U+323AF. */
  private static final byte[] CLASS = load(0x32400);

  private UnicodeClasses() {}

  /** The class of a code point. */
  public static byte of(int codePoint) {
    return codePoint < CLASS.length ? CLASS[codePoint] : OTHER;
  }

  private static byte[] load(int size) {
    byte[] table = new byte[size];
    try (InputStream in = UnicodeClasses.class.getResourceAsStream(RESOURCE);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII))) {
      byte current = OTHER;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.equals("letters")) {
          current = LETTER;
        } else if (line.equals("numbers")) {
          current = NUMBER;
        } else if (!line.startsWith("#")) {
          fill(table, line, current);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Arrays.fill(table, 0x09, 0x0E, SPACE);
    Arrays.fill(table, 0x2000, 0x200B, SPACE);
    for (int c : new int[] {0x20, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}) {
      table[c] = SPACE;
    }
    return table;
  }

  private static void fill(byte[] table, String ranges, byte value) {
    for (String range : ranges.split(" ")) {
      int dash = range.indexOf('-');
      int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash), 16);
      int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1), 16);
      Arrays.fill(table, first, last + 1, value);
    }
  }
}
