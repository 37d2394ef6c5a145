package io.radixflow.operators.engine.draft;

import java.util.Arrays;

/**
 * A text that grows token by token, and where its last tokens occurred in it before: the ends of
 * the latest occurrences of its last two tokens, each with the number of tokens before it that are
 * the same.
 *
 * <p>Ends of equal pairs are chained from the latest to the first. {@link #append} looks at a fixed
 * number of them, so it takes constant time; arrays double as the text grows.
 */
final class SuffixIndex {
  /** Separates parts of the text; matches nothing. */
  static final int SEPARATOR = -1;

  /** Tokens of a match beyond which a longer one is no better. */
  static final int LONGEST = 32;

  /** Occurrences that are looked at. */
  private static final int MOST = 16;

  /** With the one that went on with the last token. */
  static final int MOST_MATCHES = MOST + 1;

  private static final int SHORTEST = 2;

  private int[] text;
  private int length;

  /** By position: 1 + the end of the pair before with the same hash; 0 if there is none. */
  private int[] previous;

  /** By hash: 1 + the end of the last pair. */
  private int[] latest;

  private final int[] ends = new int[MOST_MATCHES];
  private final int[] lengths = new int[MOST_MATCHES];
  private int matches;
  private int best;

  /**
   * @param capacity tokens to have room for
   */
  SuffixIndex(int capacity) {
    int size = Math.max(64, capacity);
    text = new int[size];
    previous = new int[size];
    latest = new int[Integer.highestOneBit(size) * 2];
  }

  /** Appends a token without looking for matches. */
  void add(int token) {
    if (length == text.length) {
      grow();
    }
    text[length] = token;
    link(length++);
    matches = 0;
  }

  /** Appends a token, and finds the matches of the text's end. */
  void append(int token) {
    int continued = matches > 0 && ends[best] + 1 < length ? ends[best] + 1 : -1;
    int continuedLength = matches > 0 ? lengths[best] : 0;
    add(token);
    if (continued >= 0 && text[continued] == token) {
      match(continued, Math.min(LONGEST, continuedLength + 1));
    } else {
      continued = -1;
    }
    int last = length - 1;
    int end = previous[last] - 1;
    for (int seen = 0; end >= 0 && seen < MOST; seen++, end = previous[end] - 1) {
      int same = end == continued ? 0 : commonSuffix(end, last);
      if (same >= SHORTEST) {
        match(end, same);
      }
    }
  }

  /** Makes the text go on at a position, as if many tokens before it were the same. */
  void anchor(int position, int likeLength) {
    matches = 0;
    match(position - 1, likeLength);
  }

  private void match(int end, int same) {
    ends[matches] = end;
    lengths[matches] = same;
    if (matches == 0 || same > lengths[best]) {
      best = matches;
    }
    matches++;
  }

  private int commonSuffix(int end, int last) {
    int same = 0;
    int most = Math.min(LONGEST, end + 1);
    while (same < most && text[end - same] == text[last - same] && text[end - same] >= 0) {
      same++;
    }
    return same;
  }

  private void link(int position) {
    if (position == 0 || text[position] < 0 || text[position - 1] < 0) {
      previous[position] = 0;
      return;
    }
    int hash = (text[position - 1] * 0x9E3779B1 ^ text[position] * 0x85EBCA6B) * 0xC2B2AE35;
    int slot = hash >>> 8 & latest.length - 1;
    previous[position] = latest[slot];
    latest[slot] = position + 1;
  }

  private void grow() {
    text = Arrays.copyOf(text, 2 * length);
    previous = new int[2 * length];
    latest = new int[2 * latest.length];
    for (int i = 0; i < length; i++) {
      link(i);
    }
  }

  /** Number of occurrences of the text's end that were found. */
  int matches() {
    return matches;
  }

  /** The occurrence with the longest match; the latest of equal ones. */
  int best() {
    return best;
  }

  /** Tokens before the end of an occurrence that are the text's last. */
  int matchLength(int match) {
    return lengths[match];
  }

  /**
   * The token that an occurrence goes on with; where it overlaps the text's end, it repeats itself.
   *
   * @param ahead from 0
   * @return {@link #SEPARATOR} at the end of a part
   */
  int continuation(int match, int ahead) {
    int next = ends[match] + 1;
    return text[next + ahead % (length - next)];
  }

  /** The position of the token that an occurrence goes on with. */
  int next(int match) {
    return ends[match] + 1;
  }
}
