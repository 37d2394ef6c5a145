package io.radixflow.kernels.text;

import static io.radixflow.kernels.text.UnicodeClasses.NUMBER;

/** Makes every number character a piece of its own and leaves the rest to another splitter. */
final class DigitSplitter implements PreTokenizer {

  private final PreTokenizer rest;

  DigitSplitter(PreTokenizer rest) {
    this.rest = rest;
  }

  @Override
  public void split(char[] text, int from, int to, Sink sink) {
    int start = from;
    int at = from;
    while (at < to) {
      int codePoint = Character.codePointAt(text, at, to);
      int next = at + Character.charCount(codePoint);
      if (UnicodeClasses.of(codePoint) == NUMBER) {
        rest.split(text, start, at, sink);
        rest.split(text, at, next, sink);
        start = next;
      }
      at = next;
    }
    rest.split(text, start, to, sink);
  }
}
