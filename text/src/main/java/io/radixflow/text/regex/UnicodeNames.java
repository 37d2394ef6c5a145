package io.radixflow.text.regex;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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

  /** The long names of general categories and of their groups. */
  private static final Map<String, String> LONG_NAMES =
      Stream.of(
              ("letter=l casedletter=lc uppercaseletter=lu lowercaseletter=ll titlecaseletter=lt"
                      + " modifierletter=lm otherletter=lo mark=m nonspacingmark=mn spacingmark=mc"
                      + " enclosingmark=me number=n decimalnumber=nd letternumber=nl othernumber=no"
                      + " punctuation=p connectorpunctuation=pc dashpunctuation=pd"
                      + " openpunctuation=ps closepunctuation=pe initialpunctuation=pi"
                      + " finalpunctuation=pf otherpunctuation=po symbol=s mathsymbol=sm"
                      + " currencysymbol=sc modifiersymbol=sk othersymbol=so separator=z"
                      + " spaceseparator=zs lineseparator=zl paragraphseparator=zp other=c"
                      + " control=cc format=cf privateuse=co unassigned=cn")
                  .split(" "))
          .map(entry -> entry.split("="))
          .collect(Collectors.toMap(entry -> entry[0], entry -> entry[1]));

  private static final Map<String, CodePoints> NAMED = new ConcurrentHashMap<>();

  private UnicodeNames() {}

  static CodePoints digit() {
    return category("nd");
  }

  /** The characters of words in Rust's regex crate. */
  static CodePoints word() {
    return NAMED.computeIfAbsent(
        "word",
        n -> CodePoints.matching(UnicodeClasses::isWord).or(CodePoints.range(0x200C, 0x200D)));
  }

  /** The characters of words in Oniguruma, with the superscripts and fractions of Latin 1. */
  static CodePoints wordOrFraction() {
    return NAMED.computeIfAbsent(
        "wordOrFraction",
        n ->
            CodePoints.matching(UnicodeClasses::isWord)
                .or(CodePoints.of("²³¹¼½¾".codePoints().toArray())));
  }

  /** A POSIX class such as {@code alpha}, only in ASCII; null if the name is unknown. */
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
    String name = plain(text.strip());
    int equals = Math.max(name.indexOf('='), name.indexOf(':'));
    String key = equals < 0 ? "" : name.substring(0, equals);
    String value = name.substring(equals + 1);
    if (!key.isEmpty() && !key.matches("sc|script|scx|scriptextensions|gc|generalcategory")) {
      return null;
    }
    CodePoints emoji = key.isEmpty() ? Emoji.SETS.get(value) : null;
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
    String full = name.strip().replace(' ', '_');
    try {
      full = Character.UnicodeScript.forName(full).name();
    } catch (IllegalArgumentException e) {
      // It is not a short name. A script may be newer than the JDK.
    }
    return Scripts.SETS.get(plain(full));
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
      case "assigned" -> category("cn").negate()::contains;
      case "ideographic" -> Character::isIdeographic;
      default -> null;
    };
  }

  /** A general category, or a group of them, by a name in lower case without separators. */
  private static CodePoints category(String name) {
    String code = LONG_NAMES.getOrDefault(name, name);
    return code.length() > 2 || code.isEmpty()
        ? null
        : NAMED.computeIfAbsent("c:" + code, n -> ofCategories(code));
  }

  private static CodePoints ofCategories(String code) {
    CodePoints set = null;
    for (String each : UnicodeClasses.CATEGORIES) {
      String category = each.toLowerCase(Locale.ROOT);
      boolean cased = code.equals("lc") && "lulllt".contains(category);
      if (cased || category.startsWith(code)) {
        CodePoints more = Categories.SETS.get(UnicodeClasses.CATEGORIES.indexOf(each));
        set = set == null ? more : set.or(more);
      }
    }
    return set;
  }

  private static String plain(String name) {
    return name.replaceAll("[ _-]", "").toLowerCase(Locale.ROOT);
  }

  /** Reads sets: a line with a name, then lines of hexadecimal ranges. */
  private static Map<String, CodePoints> read(String resource) {
    Map<String, CodePoints> sets = new HashMap<>();
    String name = "";
    for (String line : UnicodeClasses.lines(resource)) {
      if (line.matches("[A-Z].*")) {
        name = plain(line);
        continue;
      }
      CodePoints set = sets.getOrDefault(name, CodePoints.NONE);
      for (int[] range : UnicodeClasses.ranges(line)) {
        set = set.or(CodePoints.range(range[0], range[1]));
      }
      sets.put(name, set);
    }
    return sets;
  }

  /** The code points of each general category by its number, found together at the first use. */
  private static final class Categories {
    static final Map<Integer, CodePoints> SETS = CodePoints.grouped(UnicodeClasses::category);

    private Categories() {}
  }

  /** The scripts of Unicode 16.0, read at the first use. */
  private static final class Scripts {
    static final Map<String, CodePoints> SETS = read("scripts-16.txt");

    static {
      CodePoints assigned = category("cn").negate();
      SETS.replaceAll((name, set) -> set.and(assigned));
      CodePoints known = SETS.values().stream().reduce(CodePoints.NONE, CodePoints::or);
      SETS.put("unknown", known.negate());
    }

    private Scripts() {}
  }

  /** The properties of emoji of Unicode 15.1, read at the first use. */
  private static final class Emoji {
    static final Map<String, CodePoints> SETS = read("emoji-15.txt");

    private Emoji() {}
  }
}
