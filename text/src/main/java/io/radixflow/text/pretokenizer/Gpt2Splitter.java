package io.radixflow.text.pretokenizer;

import static io.radixflow.text.regex.UnicodeClasses.SPACE;

/**
 * The pattern of GPT-2 as a scanner, alternatives tried in this order:
 *
 * <pre>
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * </pre>
 */
final class Gpt2Splitter extends PatternScanner {

  Gpt2Splitter() {
    super(false);
  }

  @Override
  int pieceEnd(char[] text, int at, int to) {
    int contraction = endOfContraction(text, at, to);
    if (contraction > at) {
      return contraction;
    }
    int run = text[at] == ' ' && at + 1 < to ? at + 1 : at;
    byte kind = ClassRuns.classAt(text, run, to);
    if (kind != SPACE) {
      return ClassRuns.endOfRun(text, run, to, kind);
    }
    return ClassRuns.endOfSpaces(text, at, to);
  }
}
