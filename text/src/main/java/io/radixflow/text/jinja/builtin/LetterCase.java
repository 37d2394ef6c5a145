package io.radixflow.text.jinja.builtin;

import java.util.Locale;

/** Converts to upper and lower case like Python's str. */
final class LetterCase {

  private LetterCase() {}

  static String upper(String text) {
    return text.toUpperCase(Locale.ROOT);
  }

  static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }

  static String capitalized(String text) {
    return text.isEmpty()
        ? text
        : titled(text.codePointAt(0))
            + lower(text.substring(Character.charCount(text.codePointAt(0))));
  }

  private static String titled(int c) {
    int title = Character.toTitleCase(c);
    if (title != c || Character.isTitleCase(c)) {
      return Character.toString(title);
    }
    String upper = upper(Character.toString(c));
    return upper.length() > 1 && upper.codePointCount(0, upper.length()) > 1
        ? upper.charAt(0) + lower(upper.substring(1))
        : upper;
  }

  static String title(String text) {
    StringBuilder out = new StringBuilder(text.length());
    boolean inWord = false;
    for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
      int c = text.codePointAt(i);
      out.append(inWord ? lower(Character.toString(c)) : titled(c));
      inWord = isCased(c);
    }
    return out.toString();
  }

  private static boolean isCased(int c) {
    return Character.isUpperCase(c) || Character.isLowerCase(c) || Character.isTitleCase(c);
  }

  static boolean isUpper(String text) {
    return text.codePoints().anyMatch(Character::isUpperCase)
        && text.codePoints().noneMatch(c -> Character.isLowerCase(c) || Character.isTitleCase(c));
  }

  static boolean isLower(String text) {
    return text.codePoints().anyMatch(Character::isLowerCase)
        && text.codePoints().noneMatch(c -> Character.isUpperCase(c) || Character.isTitleCase(c));
  }
}
