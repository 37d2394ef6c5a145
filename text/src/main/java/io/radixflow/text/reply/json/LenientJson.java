package io.radixflow.text.reply.json;

import java.util.BitSet;

/**
 * Follows one JSON object or array character by character, and says when it is complete or no
 * longer JSON.
 *
 * <p>Line breaks and other control characters inside strings are allowed: models write them, and
 * {@link JsonArguments} escapes them. A text that this class accepts is within Jackson's default
 * limits.
 */
public final class LenientJson {

  private static final int DEPTH = 500;
  private static final int NUMBER = 500;
  private static final int KEY = 10_000;

  private enum State {
    VALUE,
    FIRST_ITEM,
    FIRST_KEY,
    KEY,
    COLON,
    NEXT,
    STRING,
    ESCAPE,
    HEX,
    WORD,
    MINUS,
    ZERO,
    INTEGER,
    POINT,
    FRACTION,
    EXPONENT,
    EXPONENT_SIGN,
    EXPONENT_DIGITS,
    DONE,
    BROKEN
  }

  private final BitSet objects = new BitSet();
  private State state = State.VALUE;
  private int depth;
  private boolean key;
  private int keyLength;
  private String word;

  /** The number of characters so far of a number, a word or a hexadecimal escape. */
  private int count;

  boolean done() {
    return state == State.DONE;
  }

  public boolean broken() {
    return state == State.BROKEN;
  }

  /** Returns whether the text so far ends inside a string, but not inside an escape. */
  boolean inString() {
    return state == State.STRING;
  }

  public void accept(char c) {
    State next = next(c);
    if (next == null) {
      // The character ends a number but is not part of it.
      state = State.NEXT;
      next = next(c);
    }
    state = next;
  }

  /**
   * Returns the state after a character. Null means that the character ended a number and must be
   * processed again.
   */
  private State next(char c) {
    return switch (state) {
      case STRING -> string(c);
      case ESCAPE -> escape(c);
      case HEX ->
          Character.digit(c, 16) < 0 || c >= 128
              ? State.BROKEN
              : ++count == 4 ? State.STRING : State.HEX;
      case WORD ->
          word.charAt(count) != c
              ? State.BROKEN
              : ++count == word.length() ? State.NEXT : State.WORD;
      case DONE, BROKEN -> State.BROKEN;
      case VALUE, FIRST_ITEM, FIRST_KEY, KEY, COLON, NEXT -> Scan.isSpace(c) ? state : structure(c);
      default -> ++count > NUMBER ? State.BROKEN : number(c);
    };
  }

  private State string(char c) {
    if (key && ++keyLength > KEY) {
      return State.BROKEN;
    }
    if (c != '"') {
      return c == '\\' ? State.ESCAPE : State.STRING;
    }
    State next = key ? State.COLON : State.NEXT;
    key = false;
    return next;
  }

  private State escape(char c) {
    count = 0;
    return c == 'u' ? State.HEX : "\"\\/bfnrt".indexOf(c) >= 0 ? State.STRING : State.BROKEN;
  }

  private State structure(char c) {
    return switch (state) {
      case FIRST_KEY -> c == '}' ? close() : key(c);
      case KEY -> key(c);
      case COLON -> c == ':' ? State.VALUE : State.BROKEN;
      case FIRST_ITEM -> c == ']' ? close() : value(c);
      case VALUE -> value(c);
      default -> after(c);
    };
  }

  private State key(char c) {
    key = true;
    keyLength = 0;
    return c == '"' ? State.STRING : State.BROKEN;
  }

  private State value(char c) {
    if (depth == 0 && c != '{' && c != '[') {
      return State.BROKEN;
    }
    count = 1;
    return switch (c) {
      case '{', '[' -> open(c == '{');
      case '"' -> State.STRING;
      case 't' -> word("true");
      case 'f' -> word("false");
      case 'n' -> word("null");
      case '-' -> State.MINUS;
      case '0' -> State.ZERO;
      default -> isDigit(c) ? State.INTEGER : State.BROKEN;
    };
  }

  private State word(String expected) {
    word = expected;
    return State.WORD;
  }

  private State open(boolean object) {
    if (depth == DEPTH) {
      return State.BROKEN;
    }
    objects.set(depth++, object);
    return object ? State.FIRST_KEY : State.FIRST_ITEM;
  }

  private State after(char c) {
    boolean object = objects.get(depth - 1);
    if (c == ',') {
      return object ? State.KEY : State.VALUE;
    }
    return c == (object ? '}' : ']') ? close() : State.BROKEN;
  }

  private State close() {
    return --depth == 0 ? State.DONE : State.NEXT;
  }

  private State number(char c) {
    if (isDigit(c)) {
      return switch (state) {
        case MINUS -> c == '0' ? State.ZERO : State.INTEGER;
        case ZERO -> State.BROKEN;
        case INTEGER -> State.INTEGER;
        case POINT, FRACTION -> State.FRACTION;
        default -> State.EXPONENT_DIGITS;
      };
    }
    boolean integer = state == State.ZERO || state == State.INTEGER;
    if (c == '.' && integer) {
      return State.POINT;
    }
    if ((c == 'e' || c == 'E') && (integer || state == State.FRACTION)) {
      return State.EXPONENT;
    }
    if ((c == '+' || c == '-') && state == State.EXPONENT) {
      return State.EXPONENT_SIGN;
    }
    boolean whole = integer || state == State.FRACTION || state == State.EXPONENT_DIGITS;
    return whole ? null : State.BROKEN;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
