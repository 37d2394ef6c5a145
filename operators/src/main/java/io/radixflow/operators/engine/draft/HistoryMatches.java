package io.radixflow.operators.engine.draft;

import java.util.Arrays;

/**
 * Where the last tokens of one reply occurred in the {@linkplain DraftHistory history} of its
 * namespace. Engine thread only.
 */
final class HistoryMatches implements Matches {
  /** Occurrences that are looked at. */
  private static final int MOST = 16;

  private final DraftHistory history;
  private final String namespace;
  private final SuffixIndex[] texts = new SuffixIndex[SuffixIndex.MOST_MATCHES];
  private final int[] ends = new int[SuffixIndex.MOST_MATCHES];
  private final int[] lengths = new int[SuffixIndex.MOST_MATCHES];
  private int matches;
  private int best;
  private int version;

  HistoryMatches(DraftHistory history, String namespace) {
    this.history = history;
    this.namespace = namespace;
  }

  /** Finds the matches of a text's end, which has a token more than the last time. */
  void follow(SuffixIndex own) {
    SuffixIndex followed = matches > 0 && version == history.version() ? texts[best] : null;
    int end = followed == null ? -1 : ends[best] + 1;
    int length = followed == null ? 0 : lengths[best];
    if (version != history.version()) {
      Arrays.fill(texts, null); // erased
      version = history.version();
    }
    matches = 0;
    if (followed != null && followed.at(end) == own.at(own.length() - 1)) {
      add(followed, end, Math.min(SuffixIndex.LONGEST, length + 1));
    } else {
      followed = null;
    }
    int seen = 0;
    for (SuffixIndex text : history.texts(namespace)) {
      for (int at = text.latestLike(own); at >= 0 && seen < MOST; at = text.before(at)) {
        seen++;
        int same = text == followed && at == end ? 0 : own.commonSuffix(text, at);
        if (same >= SuffixIndex.SHORTEST) {
          add(text, at, same);
        }
      }
    }
  }

  private void add(SuffixIndex text, int end, int same) {
    texts[matches] = text;
    ends[matches] = end;
    lengths[matches] = same;
    if (matches == 0 || same > lengths[best]) {
      best = matches;
    }
    matches++;
  }

  @Override
  public int matches() {
    return matches;
  }

  @Override
  public int best() {
    return best;
  }

  @Override
  public int matchLength(int match) {
    return lengths[match];
  }

  @Override
  public int continuation(int match, int ahead) {
    if (version != history.version()) {
      return SuffixIndex.SEPARATOR; // erased meanwhile
    }
    return texts[match].at(ends[match] + 1 + ahead);
  }
}
