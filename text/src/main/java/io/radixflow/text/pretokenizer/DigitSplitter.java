package io.radixflow.text.pretokenizer;

import static io.radixflow.text.regex.UnicodeClasses.NUMBER;

import io.radixflow.text.regex.UnicodeClasses;

/** Makes every number character a piece of its own, and the text between two of them one piece. */
final class DigitSplitter implements PreTokenizer {

  @Override
  public void split(char[] text, int from, int to, Sink sink) {
    int start = from;
    int at = from;
    while (at < to) {
      int codePoint = Character.codePointAt(text, at, to);
      int next = at + Character.charCount(codePoint);
      if (UnicodeClasses.of(codePoint) == NUMBER) {
        emit(text, start, at, sink);
        sink.piece(text, at, next);
        start = next;
      }
      at = next;
    }
    emit(text, start, to, sink);
  }

  private static void emit(char[] text, int from, int to, Sink sink) {
    if (from < to) {
      sink.piece(text, from, to);
    }
  }
}
