package io.radixflow.kernels.text.pretokenizer;

import java.nio.CharBuffer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A splitter by a model file's own pattern, for those that no scanner here knows. Its classes of
 * letters and numbers are those of the running JDK's Unicode version.
 */
public final class RegexSplitter implements PreTokenizer {

  private final Pattern pattern;
  private final boolean keepsGaps;

  /**
   * @param keepsGaps whether the text between two matches is a piece, or dropped
   */
  public RegexSplitter(Pattern pattern, boolean keepsGaps) {
    this.pattern = pattern;
    this.keepsGaps = keepsGaps;
  }

  @Override
  public void split(char[] text, int from, int to, Sink sink) {
    Matcher matcher = pattern.matcher(CharBuffer.wrap(text, from, to - from));
    int start = from;
    while (matcher.find()) {
      if (keepsGaps && from + matcher.start() > start) {
        sink.piece(text, start, from + matcher.start());
      }
      if (matcher.end() > matcher.start()) {
        sink.piece(text, from + matcher.start(), from + matcher.end());
      }
      start = from + matcher.end();
    }
    if (keepsGaps && to > start) {
      sink.piece(text, start, to);
    }
  }
}
