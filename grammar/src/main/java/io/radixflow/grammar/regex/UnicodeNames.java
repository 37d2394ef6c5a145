package io.radixflow.grammar.regex;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntPredicate;

/** Sets of code points by name, as {@code \p{…}}, {@code [:…:]} and {@code \w} mean them. */
final class UnicodeNames {
  static final CodePoints ASCII_DIGIT = CodePoints.range('0', '9');
  static final CodePoints ASCII_WORD =
      ASCII_DIGIT
          .or(CodePoints.range('a', 'z'))
          .or(CodePoints.range('A', 'Z'))
          .or(CodePoints.of('_'));
  static final CodePoints SPACE =
      CodePoints.range(9, 13)
          .or(CodePoints.of(0x20, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
          .or(CodePoints.range(0x2000, 0x200A));

  /** The two letters of each of Java's general categories. */
  private static final String CATEGORIES =
      "cnlullltlmlomnmemcndnlno" + "zszlzpcccf??cocs" + "pdpspepcposmscsksopipf";

  private static final Map<String, CodePoints> NAMED = new ConcurrentHashMap<>();

  private UnicodeNames() {}

  static CodePoints digit() {
    return NAMED.computeIfAbsent(
        "digit", n -> CategorySets.BY_TYPE.get((int) Character.DECIMAL_DIGIT_NUMBER));
  }

  static CodePoints word() {
    return NAMED.computeIfAbsent("word", n -> CodePoints.matching(UnicodeNames::isWord));
  }

  private static boolean isWord(int value) {
    return switch (Character.getType(value)) {
      case Character.NON_SPACING_MARK,
          Character.COMBINING_SPACING_MARK,
          Character.ENCLOSING_MARK,
          Character.DECIMAL_DIGIT_NUMBER,
          Character.CONNECTOR_PUNCTUATION ->
          true;
      default -> Character.isAlphabetic(value) || value == 0x200C || value == 0x200D;
    };
  }

  /** A POSIX class such as {@code alpha}, of ASCII alone; null if there is none of the name. */
  static CodePoints posix(String name) {
    CodePoints letters = CodePoints.range('a', 'z').or(CodePoints.range('A', 'Z'));
    return switch (name) {
      case "alnum" -> letters.or(ASCII_DIGIT);
      case "alpha" -> letters;
      case "ascii" -> CodePoints.range(0, 127);
      case "blank" -> CodePoints.of(9, 32);
      case "cntrl" -> CodePoints.range(0, 31).or(CodePoints.of(127));
      case "digit" -> ASCII_DIGIT;
      case "graph" -> CodePoints.range('!', '~');
      case "lower" -> CodePoints.range('a', 'z');
      case "print" -> CodePoints.range(' ', '~');
      case "punct" -> CodePoints.range('!', '~').minus(letters.or(ASCII_DIGIT));
      case "space" -> CodePoints.range(9, 13).or(CodePoints.of(32));
      case "upper" -> CodePoints.range('A', 'Z');
      case "word" -> ASCII_WORD;
      case "xdigit" -> ASCII_DIGIT.or(CodePoints.range('a', 'f')).or(CodePoints.range('A', 'F'));
      default -> null;
    };
  }

  /** A general category, a script or a binary property; null if there is none of the name. */
  static CodePoints property(String text) {
    String name = text.strip().replaceAll("[ _-]", "").toLowerCase(Locale.ROOT);
    int equals = Math.max(name.indexOf('='), name.indexOf(':'));
    String key = equals < 0 ? "" : name.substring(0, equals);
    String value = name.substring(equals + 1);
    if (!key.isEmpty() && !key.matches("sc|script|scx|scriptextensions|gc|generalcategory")) {
      return null;
    }
    CodePoints emoji = key.isEmpty() ? EmojiNames.property(value) : null;
    if (emoji != null) {
      return emoji;
    }
    CodePoints set =
        key.startsWith("s")
            ? script(text.substring(equals < 0 ? 0 : raw(text) + 1))
            : category(value);
    if (set == null && key.isEmpty()) {
      IntPredicate test = binary(value);
      set =
          test == null
              ? script(text)
              : NAMED.computeIfAbsent("p:" + value, n -> CodePoints.matching(test));
    }
    return set;
  }

  private static int raw(String text) {
    return Math.max(text.indexOf('='), text.indexOf(':'));
  }

  private static CodePoints script(String name) {
    try {
      Character.UnicodeScript script =
          Character.UnicodeScript.forName(name.strip().replace(' ', '_'));
      return ScriptSets.BY_ORDINAL.getOrDefault(script.ordinal(), CodePoints.NONE);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static IntPredicate binary(String name) {
    return switch (name) {
      case "any" -> v -> true;
      case "ascii" -> v -> v < 128;
      case "alphabetic", "alpha" -> Character::isAlphabetic;
      case "lowercase", "lower" -> Character::isLowerCase;
      case "uppercase", "upper" -> Character::isUpperCase;
      case "whitespace", "space" -> SPACE::contains;
      case "idstart", "ids" -> Character::isUnicodeIdentifierStart;
      case "idcontinue", "idc" ->
          v -> Character.isUnicodeIdentifierPart(v) && !Character.isIdentifierIgnorable(v);
      case "hexdigit", "asciihexdigit", "ahex" -> v -> v < 128 && Character.digit(v, 16) >= 0;
      case "assigned" -> Character::isDefined;
      case "ideographic" -> Character::isIdeographic;
      default -> null;
    };
  }

  private static CodePoints category(String name) {
    String codes =
        switch (name) {
          case "l", "letter" -> "lullltlmlo";
          case "lc", "casedletter" -> "lulllt";
          case "lu", "uppercaseletter" -> "lu";
          case "ll", "lowercaseletter" -> "ll";
          case "lt", "titlecaseletter" -> "lt";
          case "lm", "modifierletter" -> "lm";
          case "lo", "otherletter" -> "lo";
          case "m", "mark" -> "mnmcme";
          case "mn", "nonspacingmark" -> "mn";
          case "mc", "spacingmark" -> "mc";
          case "me", "enclosingmark" -> "me";
          case "n", "number" -> "ndnlno";
          case "nd", "decimalnumber" -> "nd";
          case "nl", "letternumber" -> "nl";
          case "no", "othernumber" -> "no";
          case "p", "punctuation" -> "pcpdpspepipfpo";
          case "pc", "connectorpunctuation" -> "pc";
          case "pd", "dashpunctuation" -> "pd";
          case "ps", "openpunctuation" -> "ps";
          case "pe", "closepunctuation" -> "pe";
          case "pi", "initialpunctuation" -> "pi";
          case "pf", "finalpunctuation" -> "pf";
          case "po", "otherpunctuation" -> "po";
          case "s", "symbol" -> "smscskso";
          case "sm", "mathsymbol" -> "sm";
          case "sc", "currencysymbol" -> "sc";
          case "sk", "modifiersymbol" -> "sk";
          case "so", "othersymbol" -> "so";
          case "z", "separator" -> "zszlzp";
          case "zs", "spaceseparator" -> "zs";
          case "zl", "lineseparator" -> "zl";
          case "zp", "paragraphseparator" -> "zp";
          case "c", "other" -> "cccfcocn";
          case "cc", "control" -> "cc";
          case "cf", "format" -> "cf";
          case "co", "privateuse" -> "co";
          case "cn", "unassigned" -> "cn";
          default -> "";
        };
    if (codes.isEmpty()) {
      return null;
    }
    return NAMED.computeIfAbsent("c:" + name, n -> ofCategories(codes));
  }

  private static CodePoints ofCategories(String codes) {
    CodePoints set = CodePoints.NONE;
    for (int i = 0; i < codes.length(); i += 2) {
      String code = codes.substring(i, i + 2);
      int at = CATEGORIES.indexOf(code);
      while (at % 2 != 0) {
        at = CATEGORIES.indexOf(code, at + 1);
      }
      set = set.or(CategorySets.BY_TYPE.getOrDefault(at / 2, CodePoints.NONE));
    }
    return set;
  }

  /** The code points of each general category, found together at the first use. */
  private static final class CategorySets {
    static final Map<Integer, CodePoints> BY_TYPE = CodePoints.grouped(Character::getType);

    private CategorySets() {}
  }

  /** The code points of each script, found together at the first use. */
  private static final class ScriptSets {
    static final Map<Integer, CodePoints> BY_ORDINAL =
        CodePoints.grouped(value -> Character.UnicodeScript.of(value).ordinal());

    private ScriptSets() {}
  }
}
