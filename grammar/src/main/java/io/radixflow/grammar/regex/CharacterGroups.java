package io.radixflow.grammar.regex;

/**
 * Characters in groups that expressions often allow as a whole, as bits of a {@code long}: letters,
 * digits, each mark of ASCII, and the characters of two, three and four bytes.
 */
public final class CharacterGroups {
  /** Bytes that are not whole characters. */
  public static final long BROKEN = 1;

  private static final long[] ASCII = new long[0x80];
  private static final long[] LONGER = {1L << 1, 1L << 2, 1L << 3};
  private static final int FIRST = 4;

  static {
    int next = FIRST;
    for (String range : new String[] {"az", "AZ", "09", "\0\b", "\u000B\f", "\u000E\u001F"}) {
      for (int c = range.charAt(0); c <= range.charAt(1); c++) {
        ASCII[c] = 1L << next;
      }
      next++;
    }
    for (int c = 0; c < ASCII.length; c++) {
      ASCII[c] = ASCII[c] == 0 ? 1L << next++ : ASCII[c];
    }
  }

  /** All groups of whole characters. */
  public static final long ALL = (1L << 62) - 1 & ~BROKEN;

  /** Groups whose characters stand for themselves in a JSON string. */
  public static final long JSON = ALL & ~(controls() | ASCII['"'] | ASCII['\\']);

  private CharacterGroups() {}

  private static long controls() {
    long groups = ASCII[0x7F];
    for (int c = 0; c < ' '; c++) {
      groups |= ASCII[c];
    }
    return groups;
  }

  public static long ofAscii(int character) {
    return ASCII[character];
  }

  /** Returns the group of the characters of two to four bytes. */
  public static long ofLength(int bytes) {
    return LONGER[bytes - 2];
  }

  /** Returns the number of bytes of a character that begins with a byte; 0 if no character does. */
  public static int length(int first) {
    if (first < 0x80) {
      return 1;
    }
    return first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  }

  /** Returns whether a byte may come second in a character of more than one byte. */
  public static boolean mayFollow(int first, int second) {
    int low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    int high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
  }
}
