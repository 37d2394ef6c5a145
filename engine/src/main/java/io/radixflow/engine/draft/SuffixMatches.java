package io.radixflow.engine.draft;

import java.util.Arrays;

/**
 * Finds where the last tokens of a text occurred before, in the same text or in other texts. The
 * matches are the latest occurrences of its last two tokens, each with the number of equal tokens
 * up to its end. If there are none, the match is usually the latest occurrence of the last token. A
 * search looks at a limited number of occurrences, so it takes constant time.
 */
final class SuffixMatches implements Matches {
  /** Length in tokens beyond which a longer match does not help. */
  static final int LONGEST = 32;

  /** The most occurrences that a search looks at. */
  private static final int SEEN = 16;

  /**
   * The most matches: the occurrences of one search, and the previous best match if it continued
   * with the last token.
   */
  static final int MOST = SEEN + 1;

  private final TextIndex[] texts = new TextIndex[MOST];
  private final int[] ends = new int[MOST];
  private final int[] lengths = new int[MOST];
  private int count;
  private int best;

  /** Finds the matches of a text's end. The text has one token more than in the last call. */
  void follow(TextIndex own, TextIndex[] among) {
    TextIndex followed = count > 0 ? texts[best] : null;
    int end = next(best);
    int length = lengths[best];
    count = 0;
    if (followed != null && followed.at(end) == own.last()) {
      add(followed, end, Math.min(LONGEST, length + 1));
    } else {
      followed = null;
    }
    int seen = 0;
    for (TextIndex text : among) {
      for (int at = text.latestLike(own); at >= 0 && seen < SEEN; at = text.before(at)) {
        seen++;
        int same = text == followed && at == end ? 0 : own.commonSuffix(text, at, LONGEST);
        if (same >= 2) {
          add(text, at, same);
        }
      }
    }
    for (int i = 0; i < among.length && count == 0; i++) {
      int at = among[i].latestToken(own);
      if (at >= 0) {
        add(among[i], at, 1);
      }
    }
  }

  /**
   * Makes a position in a text the only match, as if {@code likeLength} tokens before it were
   * equal.
   */
  void anchor(TextIndex text, int position, int likeLength) {
    count = 0;
    add(text, position - 1, likeLength);
  }

  /** Drops all matches, and the texts with them. */
  void clear() {
    count = 0;
    Arrays.fill(texts, null);
  }

  private void add(TextIndex text, int end, int same) {
    texts[count] = text;
    ends[count] = end;
    lengths[count] = same;
    if (count == 0 || same > lengths[best]) {
      best = count;
    }
    count++;
  }

  @Override
  public int matches() {
    return count;
  }

  @Override
  public int best() {
    return best;
  }

  @Override
  public int matchLength(int match) {
    return lengths[match];
  }

  /** {@inheritDoc} If an occurrence overlaps the text's end, its continuation repeats. */
  @Override
  public int continuation(int match, int ahead) {
    return texts[match].repeating(next(match), ahead);
  }

  /** Returns the position of the token that follows an occurrence. */
  int next(int match) {
    return ends[match] + 1;
  }
}
