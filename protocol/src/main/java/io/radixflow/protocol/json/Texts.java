package io.radixflow.protocol.json;

/** Makes untrusted text safe for records and messages. */
public final class Texts {

  private static final int MAX_QUOTED = 64;

  private Texts() {}

  /**
   * Returns the text with each lone surrogate replaced by U+FFFD; the same object if it has no lone
   * surrogates.
   */
  public static String wellFormed(String text) {
    int fault = loneSurrogate(text, 0);
    if (fault < 0) {
      return text;
    }
    StringBuilder fixed = new StringBuilder(text);
    while (fault >= 0) {
      fixed.setCharAt(fault, '\uFFFD');
      fault = loneSurrogate(fixed, fault + 1);
    }
    return fixed.toString();
  }

  /** Returns whether the text has no control characters and no lone surrogates, as an id must. */
  public static boolean isPlain(String text) {
    return text.chars().noneMatch(Character::isISOControl) && loneSurrogate(text, 0) < 0;
  }

  /** Returns the number of code points of the text; a lone surrogate counts as one. */
  public static int length(String text) {
    return text.codePointCount(0, text.length());
  }

  /** Returns the text in quotes, on one line and shortened, for a message. */
  public static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    String fixed = wellFormed(text);
    int end =
        fixed.length() <= MAX_QUOTED ? fixed.length() : fixed.offsetByCodePoints(0, MAX_QUOTED / 2);
    fixed
        .substring(0, end)
        .codePoints()
        .forEach(c -> quoted.appendCodePoint(Character.isISOControl(c) ? '\uFFFD' : c));
    return quoted.append(end < fixed.length() ? "…\"" : "\"").toString();
  }

  private static int loneSurrogate(CharSequence text, int from) {
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        boolean pair =
            Character.isHighSurrogate(c)
                && i + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(i + 1));
        if (!pair) {
          return i;
        }
        i++;
      }
    }
    return -1;
  }
}
