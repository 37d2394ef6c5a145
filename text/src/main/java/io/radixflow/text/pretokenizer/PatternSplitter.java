package io.radixflow.text.pretokenizer;

import java.util.Locale;

/**
 * Cuts a text where a pattern matches.
 *
 * @param inverted whether matches and the text between matches swap their roles
 */
public record PatternSplitter(SplitPattern pattern, Behavior behavior, boolean inverted)
    implements PreTokenizer {
  /** The treatment of matches, with the names of tokenizer.json. */
  public enum Behavior {
    /** Each match is a piece, and each text between two matches is a piece. */
    ISOLATED,
    /** Matches are dropped. */
    REMOVED,
    /** A match belongs to the piece before it. */
    MERGED_WITH_PREVIOUS,
    /** A match belongs to the piece after it. */
    MERGED_WITH_NEXT,
    /** Matches that follow each other are one piece. */
    CONTIGUOUS;

    /**
     * Returns the behaviour with a name such as {@code MergedWithNext}; null if the name is
     * unknown.
     */
    public static Behavior of(String name) {
      for (Behavior behavior : values()) {
        if (behavior.name().replace("_", "").equals(name.toUpperCase(Locale.ROOT))) {
          return behavior;
        }
      }
      return null;
    }
  }

  @Override
  public void split(char[] text, int from, int to, Sink sink) {
    Pieces pieces = new Pieces(text, from, sink);
    SplitPattern.Matcher matcher = pattern.matcher(text, from, to);
    int start = from;
    while (matcher.find()) {
      if (matcher.begin() > start) {
        pieces.add(matcher.begin(), inverted);
      }
      pieces.add(matcher.end(), !inverted);
      start = matcher.end();
    }
    if (to > start) {
      pieces.add(to, inverted);
    }
    pieces.finish();
  }

  /** Joins matches and gaps into pieces. The latest piece waits for the next match or gap. */
  private final class Pieces {
    private final char[] text;
    private final Sink sink;
    private int start;
    private int end;
    private boolean match;

    Pieces(char[] text, int from, Sink sink) {
      this.text = text;
      this.sink = sink;
      start = from;
      end = from;
    }

    /** Adds the text between the latest end and {@code newEnd}. */
    void add(int newEnd, boolean isMatch) {
      boolean joins =
          switch (behavior) {
            case ISOLATED, REMOVED -> false;
            case MERGED_WITH_PREVIOUS -> isMatch && !match;
            case MERGED_WITH_NEXT -> match && !isMatch;
            case CONTIGUOUS -> isMatch == match;
          };
      if (!joins) {
        finish();
        start = end;
      }
      end = newEnd;
      match = isMatch;
    }

    void finish() {
      if (end > start && !(match && behavior == Behavior.REMOVED)) {
        sink.piece(text, start, end);
      }
    }
  }
}
