package io.radixflow.text.regex;

/**
 * Escapes and sets as Rust's regex crate and Oniguruma have them: words and digits are Unicode's,
 * and sets have nested sets and operators. Only Rust's syntax has POSIX names here.
 */
final class UnicodeCharacters implements CharacterSyntax {
  private final RegexSource source;
  private final boolean rust;
  private int depth;
  private boolean ignoreCase;
  private boolean verbose;

  UnicodeCharacters(RegexSource source, RegexDialect dialect) {
    this.source = source;
    rust = dialect == RegexDialect.RUST;
  }

  @Override
  public CodePoints dot(boolean all) {
    return all ? CodePoints.ALL : CodePoints.of('\n').negate();
  }

  @Override
  public CodePoints lineEnds() {
    return CodePoints.of('\n');
  }

  @Override
  public CodePoints word() {
    return rust ? UnicodeNames.word() : UnicodeNames.wordOrFraction();
  }

  @Override
  public CodePoints blanks() {
    return UnicodeNames.SPACE;
  }

  @Override
  public CodePoints set(boolean ignoreCase, boolean verbose) {
    this.ignoreCase = ignoreCase;
    this.verbose = verbose;
    return set();
  }

  private CodePoints set() {
    if (++depth > RegexParser.MAX_GROUPS) {
      throw RegexException.tooLarge(
          "sets are nested more than " + RegexParser.MAX_GROUPS + " deep");
    }
    boolean negated = source.skip("^");
    CodePoints left = null;
    char operator = 0;
    CodePoints current = CodePoints.NONE;
    boolean first = true;
    while (true) {
      skipBlanks();
      if (!first && source.skip("]")) {
        break;
      }
      char found = operator(first);
      if (found != 0) {
        source.at += 2;
        left = combine(left, operator, current);
        operator = found;
        current = CodePoints.NONE;
      } else {
        current = current.or(member(first));
      }
      first = false;
    }
    depth--;
    CodePoints all = combine(left, operator, current);
    return negated ? all.negate() : all;
  }

  private void skipBlanks() {
    while (verbose && source.more() && blanks().contains(source.peek())) {
      source.take();
    }
  }

  private char operator(boolean first) {
    if (source.startsWith("&&")) {
      return '&';
    }
    if (!rust) {
      return 0;
    }
    return source.startsWith("--") && !first ? '-' : source.startsWith("~~") ? '~' : 0;
  }

  private static CodePoints combine(CodePoints left, char operator, CodePoints right) {
    return switch (operator) {
      case '&' -> left.and(right);
      case '-' -> left.minus(right);
      case '~' -> left.or(right).minus(left.and(right));
      default -> right;
    };
  }

  private CodePoints member(boolean first) {
    if (!first || source.peek() != ']') {
      if (source.skip("[:")) {
        return posix();
      }
      if (source.skip("[")) {
        return set();
      }
    }
    int from = source.at;
    CodePoints low = single();
    boolean range =
        source.peek() == '-'
            && !source.startsWith("-]")
            && !source.startsWith(rust ? "--" : "-&&")
            && (rust || low.only() >= 0);
    if (!range) {
      return fold(low);
    }
    int lowest = onlyMember(low, from);
    source.at++;
    skipBlanks();
    int end = source.at;
    int highest = onlyMember(single(), end);
    if (lowest > highest) {
      throw source.error("a range ends before it begins");
    }
    return fold(CodePoints.range(lowest, highest));
  }

  private int onlyMember(CodePoints set, int from) {
    int only = set.only();
    if (only < 0) {
      source.at = from;
      throw source.error("a range begins or ends with a class");
    }
    return only;
  }

  private CodePoints single() {
    int value = source.take();
    return value == '\\' ? escaped() : CodePoints.of(value);
  }

  private CodePoints posix() {
    if (!rust) {
      throw source.unsupported("a POSIX class");
    }
    boolean negated = source.skip("^");
    int end = source.text.indexOf(":]", source.at);
    CodePoints set = end < 0 ? null : UnicodeNames.posix(source.text.substring(source.at, end));
    if (set == null) {
      throw source.error("there is no such class");
    }
    source.at = end + 2;
    return negated ? set.negate() : fold(set);
  }

  @Override
  public CodePoints escape(boolean ignoreCase) {
    this.ignoreCase = ignoreCase;
    return escaped();
  }

  private CodePoints escaped() {
    int value = source.take();
    int control = (rust ? "ntrfva" : "ntrfvae").indexOf(value);
    if (control >= 0) {
      return CodePoints.of("\n\t\r\f\u000B\u0007\u001B".charAt(control));
    }
    switch (value) {
      case 'd':
        return UnicodeNames.digit();
      case 'D':
        return UnicodeNames.digit().negate();
      case 'w':
        return word();
      case 'W':
        return word().negate();
      case 's':
        return UnicodeNames.SPACE;
      case 'S':
        return UnicodeNames.SPACE.negate();
      case 'p', 'P':
        CodePoints named = source.property(true);
        return value == 'P' ? named.negate() : fold(named);
      case 'x':
        return character(2);
      case 'u':
        return character(4);
      case 'U':
        return character(8);
      default:
        if (value == 'b' || value == 'B' || rust && (value == '<' || value == '>')) {
          throw source.unsupported("this word boundary");
        }
        if (value >= '1' && value <= '9') {
          throw source.unsupported("a backreference");
        }
        if (value < 128 ? Character.isLetterOrDigit(value) : rust) {
          throw source.error("there is no escape \\" + Character.toString(value));
        }
        return fold(CodePoints.of(value));
    }
  }

  private CodePoints character(int digits) {
    int value = source.peek() == '{' ? source.braced() : source.hex(digits);
    if (value < 0) {
      throw source.error("an escape has no hexadecimal digits, or does not end");
    }
    if (value > CodePoints.MAX || value >= 0xD800 && value <= 0xDFFF) {
      throw source.error("an escape is not a Unicode character");
    }
    return fold(CodePoints.of(value));
  }

  private CodePoints fold(CodePoints set) {
    return ignoreCase ? set.foldCase() : set;
  }
}
