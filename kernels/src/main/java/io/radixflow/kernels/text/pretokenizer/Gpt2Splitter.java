package io.radixflow.kernels.text.pretokenizer;

import static io.radixflow.kernels.text.pretokenizer.UnicodeClasses.SPACE;

/**
 * The pattern of GPT-2 as a scanner, alternatives tried in this order:
 *
 * <pre>
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * </pre>
 */
final class Gpt2Splitter implements PreTokenizer {

  @Override
  public void split(char[] text, int from, int to, Sink sink) {
    int at = from;
    while (at < to) {
      int end = pieceEnd(text, at, to);
      sink.piece(text, at, end);
      at = end;
    }
  }

  private static int pieceEnd(char[] text, int at, int to) {
    int contraction = text[at] == '\'' ? contractionLength(text, at + 1, to) : 0;
    if (contraction > 0) {
      return at + 1 + contraction;
    }
    int run = text[at] == ' ' && at + 1 < to ? at + 1 : at;
    byte kind = ClassRuns.classAt(text, run, to);
    if (kind != SPACE) {
      return ClassRuns.endOfRun(text, run, to, kind);
    }
    return ClassRuns.endOfSpaces(text, at, to);
  }

  private static int contractionLength(char[] text, int at, int to) {
    if (at == to) {
      return 0;
    }
    char first = text[at];
    if (first == 's' || first == 't' || first == 'm' || first == 'd') {
      return 1;
    }
    if (at + 1 == to) {
      return 0;
    }
    char second = text[at + 1];
    boolean two = (first == 'r' || first == 'v') && second == 'e' || first == 'l' && second == 'l';
    return two ? 2 : 0;
  }
}
