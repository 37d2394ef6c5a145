package io.radixflow.text.pretokenizer;

/** A splitter that scans for the pieces of a known pattern; faster than a regular expression. */
abstract class PatternScanner implements PreTokenizer {

  /** Matches {@code s} when case is ignored. */
  private static final char LONG_S = '\u017F';

  private final boolean ignoresCase;

  /**
   * @param ignoresCase whether contractions are also found in upper case
   */
  PatternScanner(boolean ignoresCase) {
    this.ignoresCase = ignoresCase;
  }

  /** The end of the piece that begins at {@code at}, which is below {@code to}. */
  abstract int pieceEnd(char[] text, int at, int to);

  @Override
  public final void split(char[] text, int from, int to, Sink sink) {
    int at = from;
    while (at < to) {
      int end = pieceEnd(text, at, to);
      sink.piece(text, at, end);
      at = end;
    }
  }

  /** The end of {@code 's|'t|'re|'ve|'m|'ll|'d} at {@code at}, or {@code at} if there is none. */
  final int endOfContraction(char[] text, int at, int to) {
    if (text[at] != '\'' || at + 1 == to) {
      return at;
    }
    char first = lower(text[at + 1]);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') {
      return at + 2;
    }
    if (at + 2 == to) {
      return at;
    }
    char second = lower(text[at + 2]);
    boolean two = (first == 'r' || first == 'v') && second == 'e' || first == 'l' && second == 'l';
    return two ? at + 3 : at;
  }

  private char lower(char c) {
    if (!ignoresCase) {
      return c;
    }
    if (c == LONG_S) {
      return 's';
    }
    return c >= 'A' && c <= 'Z' ? (char) (c + 32) : c;
  }
}
