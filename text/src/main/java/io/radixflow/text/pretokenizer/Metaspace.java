package io.radixflow.text.pretokenizer;

/**
 * Writes U+2581 for each space and, if asked for, before pieces; may cut before each U+2581, so
 * that all but the last of a run of them become pieces of their own.
 */
public record Metaspace(Prefix prefix, boolean splits) implements PreTokenizer {
  /** The character that stands for a space in tokens. */
  public static final char SPACE = '\u2581';

  /** The pieces that get U+2581 before them if they do not begin with it. */
  public enum Prefix {
    /** No piece. */
    NEVER,
    /** The piece at the beginning of the text. */
    FIRST,
    /** Every piece. */
    ALWAYS
  }

  @Override
  public void split(char[] text, int from, int to, Sink sink) {
    boolean begins = from < to && (text[from] == ' ' || text[from] == SPACE);
    boolean asked = prefix == Prefix.ALWAYS || prefix == Prefix.FIRST && from == 0;
    int shift = asked && !begins && from < to ? 1 : 0;
    char[] spaced = new char[to - from + shift];
    if (shift > 0) {
      spaced[0] = SPACE;
    }
    for (int i = from; i < to; i++) {
      spaced[i - from + shift] = text[i] == ' ' ? SPACE : text[i];
    }
    int start = 0;
    for (int i = 1; splits && i < spaced.length; i++) {
      if (spaced[i] == SPACE) {
        sink.piece(spaced, start, i);
        start = i;
      }
    }
    if (start < spaced.length) {
      sink.piece(spaced, start, spaced.length);
    }
  }
}
