package io.radixflow.kernels.text.pretokenizer;

import static io.radixflow.kernels.text.pretokenizer.UnicodeClasses.LETTER;
import static io.radixflow.kernels.text.pretokenizer.UnicodeClasses.NUMBER;
import static io.radixflow.kernels.text.pretokenizer.UnicodeClasses.OTHER;
import static io.radixflow.kernels.text.pretokenizer.UnicodeClasses.SPACE;

/**
 * The pattern of Llama 3 and, with one digit a piece, of Qwen 2, as a scanner:
 *
 * <pre>
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
 *     | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * </pre>
 */
final class Llama3Splitter implements PreTokenizer {

  /** Matches {@code s} when case is ignored. */
  private static final char LONG_S = '\u017F';

  private final int mostDigits;

  Llama3Splitter(int mostDigits) {
    this.mostDigits = mostDigits;
  }

  @Override
  public void split(char[] text, int from, int to, Sink sink) {
    int at = from;
    while (at < to) {
      int end = pieceEnd(text, at, to);
      sink.piece(text, at, end);
      at = end;
    }
  }

  private int pieceEnd(char[] text, int at, int to) {
    char first = text[at];
    int contraction = first == '\'' ? contractionLength(text, at + 1, to) : 0;
    if (contraction > 0) {
      return at + 1 + contraction;
    }
    int codePoint = Character.codePointAt(text, at, to);
    byte kind = UnicodeClasses.of(codePoint);
    if (kind == LETTER) {
      return ClassRuns.endOfRun(text, at, to, LETTER);
    }
    if (kind == NUMBER) {
      return endOfDigits(text, at, to);
    }
    int second = at + Character.charCount(codePoint);
    byte next = second < to ? ClassRuns.classAt(text, second, to) : SPACE;
    if (next == LETTER && !isNewline(first)) {
      return ClassRuns.endOfRun(text, second, to, LETTER);
    }
    if (kind == OTHER || first == ' ' && next == OTHER) {
      return endOfNewlines(
          text, ClassRuns.endOfRun(text, kind == OTHER ? at : second, to, OTHER), to);
    }
    int newline = endOfLastNewline(text, at, to);
    return newline > at ? newline : ClassRuns.endOfSpaces(text, at, to);
  }

  private int endOfDigits(char[] text, int at, int to) {
    int digits = 0;
    while (digits < mostDigits && at < to && ClassRuns.classAt(text, at, to) == NUMBER) {
      at += Character.charCount(Character.codePointAt(text, at, to));
      digits++;
    }
    return at;
  }

  private static int endOfNewlines(char[] text, int at, int to) {
    while (at < to && isNewline(text[at])) {
      at++;
    }
    return at;
  }

  private static int endOfLastNewline(char[] text, int at, int to) {
    int last = at;
    for (int i = at; i < to && UnicodeClasses.of(text[i]) == SPACE; i++) {
      if (isNewline(text[i])) {
        last = i + 1;
      }
    }
    return last;
  }

  private static boolean isNewline(char c) {
    return c == '\r' || c == '\n';
  }

  private static int contractionLength(char[] text, int at, int to) {
    if (at == to) {
      return 0;
    }
    char first = lower(text[at]);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') {
      return 1;
    }
    if (at + 1 == to) {
      return 0;
    }
    char second = lower(text[at + 1]);
    boolean two = (first == 'r' || first == 'v') && second == 'e' || first == 'l' && second == 'l';
    return two ? 2 : 0;
  }

  private static char lower(char c) {
    if (c == LONG_S) {
      return 's';
    }
    return c >= 'A' && c <= 'Z' ? (char) (c + 32) : c;
  }
}
