package io.radixflow.text.reply.json;

import java.util.BitSet;
import java.util.regex.Pattern;

/**
 * Arguments that are written as literals of a programming language. They are converted to JSON as
 * they arrive.
 *
 * <p>Strings are passed on as they arrive. Words and numbers are held back until they end, up to
 * {@link #WORD} characters.
 */
public final class LiteralArguments implements CallArguments {

  private static final int WAIT = -1;
  private static final int WORD = 500;
  private static final int DEPTH = 500;
  private static final Pattern NUMBER =
      Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

  private static final String ESCAPES = "ntrbfav0\\'\"/";
  private static final String ESCAPED = "\n\t\r\b\f\u0007\u000b\0\\'\"/";

  /**
   * A way to write literals.
   *
   * @param open text before the arguments
   * @param close character after the arguments
   * @param assign character between the name of an argument and its value
   * @param quote the quote of strings without escapes; empty if there is none
   * @param bareWords whether keys of nested objects and strings of one word do not need quotes
   */
  public record Dialect(String open, char close, char assign, String quote, boolean bareWords) {

    /** Named arguments of a call in Python: {@code (a='x', b=[1, None])}. */
    public static final Dialect PYTHON = new Dialect("(", ')', '=', "", false);

    public static Dialect gemma(String quote) {
      return new Dialect("{", '}', ':', quote, true);
    }
  }

  private enum Step {
    KEY,
    ASSIGN,
    VALUE,
    STRING,
    AFTER,
    DONE,
    BROKEN
  }

  private final Dialect dialect;
  private final BitSet objects = new BitSet();
  private Step step = Step.KEY;
  private int depth = 1;

  /** Whether the object or list may end here, because the last token was its opening or a comma. */
  private boolean mayEnd = true;

  /** Whether a comma was read but not written yet. */
  private boolean comma;

  private boolean opened;

  /** Whether there is white space before the next token. */
  private boolean space;

  /** The quote of the string that is being read, and whether it is the key of an object. */
  private String quote;

  private boolean key;

  public LiteralArguments(Dialect dialect) {
    this.dialect = dialect;
    objects.set(0);
  }

  @Override
  public State state() {
    return switch (step) {
      case DONE -> State.DONE;
      case BROKEN -> State.BROKEN;
      default -> State.OPEN;
    };
  }

  @Override
  public int read(CharSequence text, int from, StringBuilder out) {
    if (!opened) {
      opened = true;
      out.append('{');
    }
    int at = from;
    while (at < text.length() && step != Step.DONE && step != Step.BROKEN) {
      if (step != Step.STRING && Scan.isSpace(text.charAt(at))) {
        space = true;
        at++;
        continue;
      }
      int next = step == Step.STRING ? string(text, at, out) : token(text, at, out);
      if (next == WAIT) {
        return at;
      }
      space &= step == Step.BROKEN;
      at = next;
    }
    if (step == Step.BROKEN) {
      out.append(comma ? ", " : space ? " " : "");
      comma = false;
    }
    return at;
  }

  private int token(CharSequence text, int at, StringBuilder out) {
    char c = text.charAt(at);
    boolean ends = c == end() && (step == Step.AFTER || mayEnd && step != Step.ASSIGN);
    if (ends) {
      return close(at, out);
    }
    return switch (step) {
      case KEY -> element(text, at, true, out);
      case ASSIGN -> assign(c, at, out);
      case VALUE -> c == '{' || c == '[' ? open(c, at, out) : element(text, at, false, out);
      default -> c == ',' ? comma(at) : broken(at);
    };
  }

  private char end() {
    return depth == 1 ? dialect.close() : objects.get(depth - 1) ? '}' : ']';
  }

  private int assign(char c, int at, StringBuilder out) {
    if (c != (depth == 1 ? dialect.assign() : ':')) {
      return broken(at);
    }
    out.append(": ");
    mayEnd = false;
    comma = false;
    step = Step.VALUE;
    return at + 1;
  }

  private int comma(int at) {
    comma = true;
    mayEnd = true;
    step = objects.get(depth - 1) ? Step.KEY : Step.VALUE;
    return at + 1;
  }

  private int open(char c, int at, StringBuilder out) {
    if (depth == DEPTH) {
      return broken(at);
    }
    separate(out).append(c);
    objects.set(depth++, c == '{');
    mayEnd = true;
    step = c == '{' ? Step.KEY : Step.VALUE;
    return at + 1;
  }

  private int close(int at, StringBuilder out) {
    depth--;
    out.append(objects.get(depth) ? '}' : ']');
    comma = false;
    step = depth == 0 ? Step.DONE : Step.AFTER;
    return at + 1;
  }

  /** Reads a word, or the quote before a string. */
  private int element(CharSequence text, int at, boolean isKey, StringBuilder out) {
    key = isKey;
    quote = quote(text, at);
    if (quote == null) {
      return WAIT;
    }
    if (!quote.isEmpty()) {
      separate(out).append('"');
      step = Step.STRING;
      return at + quote.length();
    }
    int end = at;
    while (end < text.length() && isWord(text.charAt(end))) {
      end++;
    }
    if (end == text.length() && end - at <= WORD) {
      return WAIT;
    }
    String word = text.subSequence(at, Math.min(end, at + WORD + 1)).toString();
    String json = word.isEmpty() || word.length() > WORD ? null : json(word);
    if (json == null) {
      return broken(at);
    }
    separate(out).append(json);
    step = isKey ? Step.ASSIGN : Step.AFTER;
    return end;
  }

  private static boolean isWord(char c) {
    return Character.isLetterOrDigit(c) || "_.+-".indexOf(c) >= 0;
  }

  /** Returns a word as JSON; null if it is not valid. */
  private String json(String word) {
    if (key) {
      return depth == 1 || dialect.bareWords() ? JsonStrings.quote(word) : null;
    }
    return switch (word) {
      case "True", "true" -> "true";
      case "False", "false" -> "false";
      case "None", "null" -> "null";
      default ->
          NUMBER.matcher(word).matches()
              ? word
              : dialect.bareWords() ? JsonStrings.quote(word) : null;
    };
  }

  /**
   * Returns the quote at a position: empty if there is none, null if more text is needed to decide.
   */
  private String quote(CharSequence text, int at) {
    char c = text.charAt(at);
    if (!dialect.quote().isEmpty()) {
      int match = Markers.match(dialect.quote(), text, at);
      return match == Markers.PART
          ? null
          : match == Markers.WHOLE ? dialect.quote() : c == '"' ? "\"" : "";
    }
    if (c != '"' && c != '\'') {
      return "";
    }
    String one = String.valueOf(c);
    int match = Markers.match(one.repeat(3), text, at);
    return match == Markers.PART ? null : match == Markers.WHOLE ? one.repeat(3) : one;
  }

  private StringBuilder separate(StringBuilder out) {
    if (comma) {
      out.append(", ");
      comma = false;
    }
    return out;
  }

  private int string(CharSequence text, int at, StringBuilder out) {
    int match = Markers.match(quote, text, at);
    if (match == Markers.PART) {
      return WAIT;
    }
    if (match == Markers.WHOLE) {
      out.append('"');
      step = key ? Step.ASSIGN : Step.AFTER;
      return at + quote.length();
    }
    char c = text.charAt(at);
    if (c == '\\' && !quote.equals(dialect.quote())) {
      return at + 1 == text.length() ? WAIT : escape(text, at, out);
    }
    JsonStrings.append(out, c);
    return at + 1;
  }

  private int escape(CharSequence text, int at, StringBuilder out) {
    char c = text.charAt(at + 1);
    int plain = ESCAPES.indexOf(c);
    if (plain >= 0) {
      JsonStrings.append(out, ESCAPED.charAt(plain));
      return at + 2;
    }
    return switch (c) {
      case '\n' -> at + 2;
      case 'x' -> code(text, at, 2, out);
      case 'u' -> code(text, at, 4, out);
      case 'U' -> code(text, at, 8, out);
      default -> {
        out.append("\\\\");
        yield at + 1;
      }
    };
  }

  private int code(CharSequence text, int at, int digits, StringBuilder out) {
    int code = 0;
    for (int i = at + 2; i < at + 2 + digits; i++) {
      if (i == text.length()) {
        return WAIT;
      }
      int digit = Character.digit(text.charAt(i), 16);
      if (digit < 0 || code > 0x10FFFF) {
        return broken(at);
      }
      code = code * 16 + digit;
    }
    if (!Character.isValidCodePoint(code)) {
      return broken(at);
    }
    if (code >= Character.MIN_SURROGATE && code <= Character.MAX_SURROGATE) {
      out.append("\\u").append(Integer.toHexString(code));
    } else {
      for (char c : Character.toChars(code)) {
        JsonStrings.append(out, c);
      }
    }
    return at + 2 + digits;
  }

  private int broken(int at) {
    step = Step.BROKEN;
    return at;
  }
}
