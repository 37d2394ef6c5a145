package io.radixflow.text.pretokenizer;

import static io.radixflow.text.regex.UnicodeClasses.LETTER;
import static io.radixflow.text.regex.UnicodeClasses.NUMBER;
import static io.radixflow.text.regex.UnicodeClasses.OTHER;
import static io.radixflow.text.regex.UnicodeClasses.SPACE;

import io.radixflow.text.regex.UnicodeClasses;

/**
 * The pattern of Llama 3 and, with one digit per piece, of Qwen 2, as a scanner:
 *
 * <pre>
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
 *     | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * </pre>
 */
final class Llama3Splitter extends PatternScanner {

  private final int mostDigits;

  Llama3Splitter(int mostDigits) {
    super(true);
    this.mostDigits = mostDigits;
  }

  @Override
  int pieceEnd(char[] text, int at, int to) {
    int contraction = endOfContraction(text, at, to);
    if (contraction > at) {
      return contraction;
    }
    char first = text[at];
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
}
