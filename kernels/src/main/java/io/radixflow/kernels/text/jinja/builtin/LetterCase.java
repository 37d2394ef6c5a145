package io.radixflow.kernels.text.jinja.builtin;

import io.radixflow.kernels.text.jinja.value.Printing;
import java.util.Locale;

/** Upper and lower case, and kinds of characters, as Python's str has them. */
final class LetterCase {

  private LetterCase() {}

  static String upper(String text) {
    return text.toUpperCase(Locale.ROOT);
  }

  static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }

  static String folded(String text) {
    return text.codePoints().allMatch(c -> c < 128) ? lower(text) : foldedAll(text);
  }

  private static String foldedAll(String text) {
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .forEach(c -> out.append(lower(upper(Character.toString(c))).replace('ς', 'σ')));
    return out.toString();
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

  static String swapped(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              String one = Character.toString(c);
              out.append(
                  Character.isUpperCase(c)
                      ? lower(one)
                      : Character.isLowerCase(c) ? upper(one) : one);
            });
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

  static boolean isTitle(String text) {
    boolean inWord = false;
    boolean any = false;
    for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
      int c = text.codePointAt(i);
      boolean capital = Character.isUpperCase(c) || Character.isTitleCase(c);
      if (capital && inWord || Character.isLowerCase(c) && !inWord) {
        return false;
      }
      inWord = isCased(c);
      any |= inWord;
    }
    return any;
  }

  static boolean isDigit(int c) {
    return Character.isDigit(c)
        || c == 0xB2
        || c == 0xB3
        || c == 0xB9
        || c == 0x2070
        || c >= 0x2074 && c <= 0x2079
        || c >= 0x2080 && c <= 0x2089
        || c >= 0x2460 && c <= 0x2468;
  }

  static boolean isNumeric(int c) {
    int type = Character.getType(c);
    return type == Character.DECIMAL_DIGIT_NUMBER
        || type == Character.LETTER_NUMBER
        || type == Character.OTHER_NUMBER;
  }

  static boolean isAlphanumeric(int c) {
    return Character.isLetter(c) || isNumeric(c);
  }

  static boolean isPrintable(int c) {
    return Printing.isPrintable(c);
  }

  static boolean isIdentifier(String text) {
    return !text.isEmpty()
        && (text.charAt(0) == '_' || Character.isUnicodeIdentifierStart(text.codePointAt(0)))
        && text.codePoints()
            .allMatch(
                c -> Character.isUnicodeIdentifierPart(c) && !Character.isIdentifierIgnorable(c));
  }
}
