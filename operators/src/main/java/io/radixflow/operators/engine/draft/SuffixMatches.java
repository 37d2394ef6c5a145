package io.radixflow.operators.engine.draft;

import java.util.Arrays;

/**
 * Where the last tokens of a text occurred before, in itself or in others: the latest occurrences
 * of its last two tokens, each with the number of tokens before its end that are the same; where
 * there are none, mostly the latest of its last token. A fixed number of occurrences is looked at,
 * so a search takes constant time.
 */
final class SuffixMatches implements Matches {
  /** Length in tokens beyond which a longer match does not help. */
  static final int LONGEST = 32;

  /** Occurrences that are looked at. */
  private static final int SEEN = 16;

  /** With the one that went on with the last token. */
  static final int MOST = SEEN + 1;

  private final TextIndex[] texts = new TextIndex[MOST];
  private final int[] ends = new int[MOST];
  private final int[] lengths = new int[MOST];
  private int count;
  private int best;

  /** Finds the matches of a text's end, which has one token more than the last time. */
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

  /** Makes a position in a text the only match, as if many tokens before it were the same. */
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

  /** {@inheritDoc} Where it overlaps the text's end, it repeats itself. */
  @Override
  public int continuation(int match, int ahead) {
    return texts[match].repeating(next(match), ahead);
  }

  /** The position of the token that an occurrence goes on with. */
  int next(int match) {
    return ends[match] + 1;
  }
}
