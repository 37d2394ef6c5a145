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
final class SuffixIndex implements Matches {
  /** Separates parts of the text; matches nothing. */
  static final int SEPARATOR = -1;

  /** Tokens of a match beyond which a longer one is no better. */
  static final int LONGEST = 32;

  /** Occurrences that are looked at. */
  private static final int MOST = 16;

  /** With the one that went on with the last token. */
  static final int MOST_MATCHES = MOST + 1;

  /** Tokens of the shortest match. */
  static final int SHORTEST = 2;

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
      int same = end == continued ? 0 : commonSuffix(this, end);
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

  /** Returns how many tokens up to an end in a text are the last of this one. */
  int commonSuffix(SuffixIndex other, int end) {
    int same = 0;
    int last = length - 1;
    int most = Math.min(LONGEST, Math.min(end, last) + 1);
    while (same < most
        && other.text[end - same] == text[last - same]
        && other.text[end - same] >= 0) {
      same++;
    }
    return same;
  }

  /** The end of the last pair here that may be the last two tokens of another text; -1 if none. */
  int latestLike(SuffixIndex other) {
    int last = other.length - 1;
    if (last < 1 || other.text[last] < 0 || other.text[last - 1] < 0) {
      return -1;
    }
    return latest[slot(other.text[last - 1], other.text[last])] - 1;
  }

  /** The end of the pair before that may be the same as the one that ends there; -1 if none. */
  int before(int end) {
    return previous[end] - 1;
  }

  /** Returns a token; a separator at the end of the text. */
  int at(int position) {
    return position < length ? text[position] : SEPARATOR;
  }

  int length() {
    return length;
  }

  /** The memory that the text takes. */
  long bytes() {
    return 4L * (text.length + previous.length + latest.length);
  }

  private int slot(int first, int second) {
    int hash = (first * 0x9E3779B1 ^ second * 0x85EBCA6B) * 0xC2B2AE35;
    return hash >>> 8 & latest.length - 1;
  }

  private void link(int position) {
    if (position == 0 || text[position] < 0 || text[position - 1] < 0) {
      previous[position] = 0;
      return;
    }
    int slot = slot(text[position - 1], text[position]);
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

  /** {@inheritDoc} Where it overlaps the text's end, it repeats itself. */
  @Override
  public int continuation(int match, int ahead) {
    int next = ends[match] + 1;
    return text[next + ahead % (length - next)];
  }

  /** The position of the token that an occurrence goes on with. */
  int next(int match) {
    return ends[match] + 1;
  }
}
