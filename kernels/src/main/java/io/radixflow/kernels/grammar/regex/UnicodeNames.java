package io.radixflow.kernels.grammar.regex;

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
  private static final Map<String, CodePoints> NAMED = new ConcurrentHashMap<>();

  private UnicodeNames() {}

  static CodePoints digit() {
    return NAMED.computeIfAbsent(
        "digit",
        n -> CodePoints.matching(v -> Character.getType(v) == Character.DECIMAL_DIGIT_NUMBER));
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
    IntPredicate test =
        key.startsWith("s")
            ? script(text.substring(equals < 0 ? 0 : raw(text) + 1))
            : category(value);
    if (test == null && key.isEmpty()) {
      test = binary(value);
    }
    if (test == null && key.isEmpty()) {
      test = script(text);
    }
    IntPredicate found = test;
    return found == null
        ? null
        : NAMED.computeIfAbsent("p:" + name, n -> CodePoints.matching(found));
  }

  private static int raw(String text) {
    return Math.max(text.indexOf('='), text.indexOf(':'));
  }

  private static IntPredicate script(String name) {
    try {
      Character.UnicodeScript script =
          Character.UnicodeScript.forName(name.strip().replace(' ', '_'));
      return v -> Character.UnicodeScript.of(v) == script;
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
      case "ideographic" -> Character::isIdeographic;
      default -> null;
    };
  }

  private static IntPredicate category(String name) {
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
    return codes.isEmpty() ? null : v -> holds(codes, code(Character.getType(v)));
  }

  private static boolean holds(String codes, String code) {
    for (int i = 0; i < codes.length(); i += 2) {
      if (codes.startsWith(code, i)) {
        return true;
      }
    }
    return false;
  }

  /** The two letters of a general category. */
  private static String code(int type) {
    String codes = "cnlullltlmlomnmemcndnlno" + "zszlzpcccf??cocs" + "pdpspepcposmscsksopipf";
    return codes.substring(2 * type, 2 * type + 2);
  }
}
