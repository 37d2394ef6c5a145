package io.radixflow.text.regex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class UnicodeClassesTest {

  /** Every code point that the running JDK knows has the class that the JDK gives it. */
  @Test
  void classesAgreeWithTheJdkOnAllAssignedCodePoints() {
    List<String> differences = new ArrayList<>();
    for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
      if (Character.isDefined(c) && UnicodeClasses.of(c) != byJdk(c)) {
        differences.add(Integer.toHexString(c));
      }
    }
    assertThat(differences).isEmpty();
  }

  /** Later versions of Unicode moved some marks from one category to another. */
  @Test
  void groupsOfCategoriesAgreeWithTheJdkOnLettersMarksAndNumbers() {
    String groups = "CLLLLLMMMNNN";
    for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
      int type = Character.getType(c);
      if (type > 0 && type < groups.length()) {
        String category = UnicodeClasses.CATEGORIES.get(UnicodeClasses.category(c));
        assertThat(category.charAt(0)).as("U+%X", c).isEqualTo(groups.charAt(type));
        assertThat(category.equals("Lu"))
            .as("U+%X", c)
            .isEqualTo(type == Character.UPPERCASE_LETTER);
      }
    }
  }

  @Test
  void whiteSpaceIsThePropertyWhiteSpace() {
    int[] spaces = {0x9, 0xA, 0xB, 0xC, 0xD, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x3000};
    int[] others = {0x8, 0xE, 0x1C, 0x1F, 0x180E, 0x200B, 0x2060, 0xFEFF, 0xD800, 0x10FFFF};
    assertThat(IntStream.of(spaces)).allMatch(c -> UnicodeClasses.of(c) == UnicodeClasses.SPACE);
    assertThat(IntStream.of(others)).allMatch(c -> UnicodeClasses.of(c) == UnicodeClasses.OTHER);
  }

  private static byte byJdk(int c) {
    switch (Character.getType(c)) {
      case Character.UPPERCASE_LETTER:
      case Character.LOWERCASE_LETTER:
      case Character.TITLECASE_LETTER:
      case Character.MODIFIER_LETTER:
      case Character.OTHER_LETTER:
        return UnicodeClasses.LETTER;
      case Character.DECIMAL_DIGIT_NUMBER:
      case Character.LETTER_NUMBER:
      case Character.OTHER_NUMBER:
        return UnicodeClasses.NUMBER;
      case Character.SPACE_SEPARATOR:
      case Character.LINE_SEPARATOR:
      case Character.PARAGRAPH_SEPARATOR:
        return UnicodeClasses.SPACE;
      default:
        return c >= 0x9 && c <= 0xD || c == 0x85 ? UnicodeClasses.SPACE : UnicodeClasses.OTHER;
    }
  }
}
