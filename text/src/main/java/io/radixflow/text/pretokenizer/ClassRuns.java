package io.radixflow.text.pretokenizer;

import static io.radixflow.text.regex.UnicodeClasses.SPACE;

import io.radixflow.text.regex.UnicodeClasses;

/** Finds runs of code points of one class, for all pre-tokenizers. */
public final class ClassRuns {

  private ClassRuns() {}

  /** The class of the code point at {@code at}. */
  static byte classAt(char[] text, int at, int to) {
    return UnicodeClasses.of(Character.codePointAt(text, at, to));
  }

  /** The end of the run of one class that covers {@code at}. */
  public static int endOfRun(char[] text, int at, int to, byte kind) {
    while (at < to) {
      int codePoint = Character.codePointAt(text, at, to);
      if (UnicodeClasses.of(codePoint) != kind) {
        break;
      }
      at += Character.charCount(codePoint);
    }
    return at;
  }

  /**
   * {@code \s+(?!\S)|\s+} at a white space: the whole run at the end of the text, else the run
   * without its last character, which belongs to the next piece. A run of one character stays
   * whole.
   */
  static int endOfSpaces(char[] text, int at, int to) {
    int end = endOfRun(text, at, to, SPACE);
    return end == to || end == at + 1 ? end : end - 1;
  }
}
