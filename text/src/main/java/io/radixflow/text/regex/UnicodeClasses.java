package io.radixflow.text.regex;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * General categories of code points, and the four classes that most pre-tokenizers distinguish,
 * pinned to Unicode 16.0.
 *
 * <p>The JDK's own tables follow its release (13.0 in JDK 17, 16.0 in JDK 25), and a prompt must
 * not get other token ids with another JDK.
 */
public final class UnicodeClasses {

  /**
   * Neither letter, number nor white space; also all code points that Unicode 16.0 does not assign.
   */
  public static final byte OTHER = 0;

  /** General category L. */
  public static final byte LETTER = 1;

  /** General category N. */
  public static final byte NUMBER = 2;

  /** Property White_Space: includes U+0085 and U+00A0, not U+001C to U+001F nor U+200B. */
  public static final byte SPACE = 3;

  /** Names of the general categories; a category's number is its index. */
  public static final List<String> CATEGORIES =
      List.of(
          "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
          "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co");

  /** Tags and variation selectors end at U+E01EF; planes of private use follow. */
  private static final int KNOWN = 0xE0200;

  private static final byte[] CATEGORY = load();

  private static final byte[] CLASS = classes();

  private UnicodeClasses() {}

  public static byte of(int codePoint) {
    return codePoint < CLASS.length ? CLASS[codePoint] : OTHER;
  }

  /** The number of a code point's general category. */
  public static int category(int codePoint) {
    if (codePoint < KNOWN) {
      return CATEGORY[codePoint];
    }
    boolean privateUse = codePoint >= 0xF0000 && (codePoint & 0xFFFF) < 0xFFFE;
    return privateUse ? CATEGORIES.indexOf("Co") : 0;
  }

  /** Letters, marks, decimal digits and connecting punctuation: what {@code \w} means. */
  public static boolean isWord(int codePoint) {
    String category = CATEGORIES.get(category(codePoint));
    return category.charAt(0) == 'L'
        || category.charAt(0) == 'M'
        || category.equals("Nd")
        || category.equals("Nl")
        || category.equals("Pc")
        || codePoint >= 0x24B6 && codePoint <= 0x24E9
        || codePoint >= 0x1F130 && codePoint <= 0x1F189 && isSquaredLetter(codePoint);
  }

  private static boolean isSquaredLetter(int c) {
    return c <= 0x1F149 || c >= 0x1F150 && c <= 0x1F169 || c >= 0x1F170;
  }

  private static byte[] load() {
    byte[] table = new byte[KNOWN];
    Arrays.fill(table, 0xD800, 0xE000, (byte) CATEGORIES.indexOf("Cs"));
    Arrays.fill(table, 0xE000, 0xF900, (byte) CATEGORIES.indexOf("Co"));
    byte current = 0;
    for (String line : lines("unicode-16.txt")) {
      int category = CATEGORIES.indexOf(line);
      if (category >= 0) {
        current = (byte) category;
      } else {
        for (int[] range : ranges(line)) {
          Arrays.fill(table, range[0], range[1] + 1, current);
        }
      }
    }
    return table;
  }

  /** The lines of a table of this package, without its comments. */
  static List<String> lines(String resource) {
    try (InputStream in = UnicodeClasses.class.getResourceAsStream(resource)) {
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the first and the last code point of each hexadecimal range of a line. */
  static List<int[]> ranges(String line) {
    return Arrays.stream(line.split(" "))
        .map(range -> range.split("-"))
        .map(
            ends ->
                new int[] {
                  Integer.parseInt(ends[0], 16), Integer.parseInt(ends[ends.length - 1], 16)
                })
        .toList();
  }

  /** The classes of all code points up to U+323AF, the last letter. */
  private static byte[] classes() {
    byte[] table = new byte[0x32400];
    for (int c = 0; c < table.length; c++) {
      char group = CATEGORIES.get(CATEGORY[c]).charAt(0);
      boolean space = group == 'Z' || c >= 0x9 && c <= 0xD || c == 0x85;
      table[c] = space ? SPACE : group == 'L' ? LETTER : group == 'N' ? NUMBER : OTHER;
    }
    return table;
  }
}
