package io.radixflow.text.regex;

/**
 * Escapes and sets of ECMA-262. A set is flat: brackets and doubled operators in it are plain
 * characters.
 */
final class EcmaCharacters implements CharacterSyntax {
  private static final CodePoints LINE_ENDS = CodePoints.of('\n', '\r', 0x2028, 0x2029);
  private static final CodePoints SPACE =
      CodePoints.range(9, 13)
          .or(CodePoints.of(0x20, 0xA0, 0x1680, 0x202F, 0x205F, 0x3000, 0xFEFF))
          .or(CodePoints.range(0x2000, 0x200A))
          .or(CodePoints.of(0x2028, 0x2029));

  /** {@link #value} if the escape is a class of characters. */
  private static final int CLASS = -1;

  private final RegexSource source;

  /** Groups that capture. */
  private final int groups;

  private final boolean namedGroups;

  /** The character that was read last, which may be half a pair; {@link #CLASS} for a class. */
  private int value;

  private CodePoints characters;

  EcmaCharacters(RegexSource source) {
    this.source = source;
    int count = 0;
    boolean named = false;
    boolean inSet = false;
    String text = source.text;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\') {
        i++;
      } else if (inSet) {
        inSet = c != ']';
      } else if (c == '[') {
        inSet = true;
      } else if (c == '(') {
        boolean name =
            text.startsWith("?<", i + 1)
                && !text.startsWith("?<=", i + 1)
                && !text.startsWith("?<!", i + 1);
        count += name || !text.startsWith("?", i + 1) ? 1 : 0;
        named |= name;
      }
    }
    groups = count;
    namedGroups = named;
  }

  @Override
  public CodePoints dot(boolean all) {
    return all ? CodePoints.ALL : LINE_ENDS.negate();
  }

  @Override
  public CodePoints lineEnds() {
    return LINE_ENDS;
  }

  @Override
  public CodePoints word() {
    return UnicodeNames.ASCII_WORD;
  }

  @Override
  public CodePoints blanks() {
    return SPACE;
  }

  @Override
  public CodePoints set(boolean ignoreCase, boolean verbose) {
    boolean negated = source.skip("^");
    CodePoints all = CodePoints.NONE;
    while (!source.skip("]")) {
      member();
      int low = value;
      CodePoints first = characters;
      if (source.peek() != '-' || source.startsWith("-]")) {
        all = all.or(first);
        continue;
      }
      source.at++;
      int from = source.at;
      member();
      if (low > value && value == '-') {
        source.at = from - 1; // ECMA-262 has no meaning for "a--c": here, a range from "-" to "c"
        all = all.or(first);
        continue;
      }
      if (low == CLASS || value == CLASS) {
        all = all.or(first).or(characters).or(CodePoints.of('-'));
        continue;
      }
      if (low > value) {
        throw source.error("a range ends before it begins");
      }
      all = all.or(CodePoints.range(low, value));
    }
    all = ignoreCase ? all.foldCase() : all;
    return negated ? all.negate() : all;
  }

  private void member() {
    if (!source.skip("\\")) {
      one(source.take());
    } else if (source.skip("b")) {
      one('\b');
    } else if (source.skip("-")) {
      one('-');
    } else {
      escaped(true);
    }
  }

  @Override
  public CodePoints escape(boolean ignoreCase) {
    escaped(false);
    return ignoreCase && value != CLASS ? characters.foldCase() : characters;
  }

  private void one(int character) {
    value = character;
    characters = CodePoints.range(character, character);
  }

  private void several(CodePoints set, boolean negated) {
    value = CLASS;
    characters = negated ? set.negate() : set;
  }

  private void escaped(boolean inSet) {
    int letter = source.take();
    switch (letter) {
      case 'd', 'D' -> several(UnicodeNames.ASCII_DIGIT, letter == 'D');
      case 'w', 'W' -> several(UnicodeNames.ASCII_WORD, letter == 'W');
      case 's', 'S' -> several(SPACE, letter == 'S');
      case 'p', 'P' -> {
        if (source.peek() == '{') {
          several(source.property(false), letter == 'P');
        } else {
          one(letter);
        }
      }
      case 'n', 't', 'r', 'f', 'v' -> one("\n\t\r\f\u000B".charAt("ntrfv".indexOf(letter)));
      case 'x' -> one(orElse(source.hex(2), 'x'));
      case 'u' -> unicode();
      case 'c' -> control(inSet);
      case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number(letter, inSet);
      case 'k' -> {
        if (namedGroups) {
          throw source.unsupported("a backreference");
        }
        one('k');
      }
      default -> one(letter);
    }
  }

  private static int orElse(int found, int other) {
    return found < 0 ? other : found;
  }

  /** Two escapes may be the halves of one character. */
  private void unicode() {
    int braced = source.braced();
    if (braced > CodePoints.MAX) {
      throw source.error("an escape is not a Unicode character");
    }
    int unit = braced < 0 ? source.hex(4) : braced;
    if (braced < 0 && unit >= 0xD800 && unit <= 0xDBFF && source.startsWith("\\u")) {
      int from = source.at;
      source.at += 2;
      int low = source.hex(4);
      if (low >= 0xDC00 && low <= 0xDFFF) {
        unit = Character.toCodePoint((char) unit, (char) low);
      } else {
        source.at = from;
      }
    }
    one(orElse(unit, 'u'));
  }

  private void control(boolean inSet) {
    int letter = source.peek();
    boolean named = letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z';
    if (named || inSet && (letter == '_' || letter >= '0' && letter <= '9')) {
      one(source.take() % 32);
    } else {
      source.at--;
      one('\\');
    }
  }

  /** A number that names no group is a character in octal digits. */
  private void number(int first, boolean inSet) {
    source.at--;
    int from = source.at;
    if (!inSet && first != '0' && source.decimal() <= groups) {
      throw source.unsupported("a backreference");
    }
    source.at = from;
    if (first > '7') {
      one(source.take());
      return;
    }
    int octal = 0;
    for (int i = 0; i < 3; i++) {
      int digit = source.peek() - '0';
      if (digit < 0 || digit > 7 || octal * 8 + digit > 0xFF) {
        break;
      }
      octal = octal * 8 + digit;
      source.at++;
    }
    one(octal);
  }
}
