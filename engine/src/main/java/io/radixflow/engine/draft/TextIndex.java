package io.radixflow.engine.draft;

import java.util.Arrays;

/**
 * A text that grows token by token, with an index of its tokens and of its pairs of tokens: the
 * ends of equal pairs are chained from the latest to the first. {@link #add} takes constant time;
 * arrays double as the text grows.
 */
final class TextIndex {
  /** Separates parts of the text; matches nothing. */
  static final int SEPARATOR = -1;

  private int[] text;
  private int length;

  /** By position: 1 + the end of the pair before with the same hash; 0 if there is none. */
  private int[] previous;

  /** By hash: 1 + the end of the last pair. */
  private int[] latest;

  /** By hash: 1 + the position of the last such token. */
  private int[] latestTokens;

  /** Of the last token: 1 + the position of the one before with the same hash. */
  private int again;

  /**
   * @param capacity tokens to have room for
   */
  TextIndex(int capacity) {
    int size = Math.max(64, capacity);
    text = new int[size];
    previous = new int[size];
    latest = new int[Integer.highestOneBit(size) * 2];
    latestTokens = new int[latest.length];
  }

  /** Appends a token. */
  void add(int token) {
    if (length == text.length) {
      grow();
    }
    text[length] = token;
    link(length++);
  }

  /** Returns how many tokens up to an end in a text are the last of this one, up to a number. */
  int commonSuffix(TextIndex other, int end, int limit) {
    int same = 0;
    int last = length - 1;
    int most = Math.min(limit, Math.min(end, last) + 1);
    while (same < most
        && other.text[end - same] == text[last - same]
        && other.text[end - same] >= 0) {
      same++;
    }
    return same;
  }

  /**
   * The end of the last pair here that may be the last two tokens of a text, which may be this one;
   * -1 if there is none.
   */
  int latestLike(TextIndex other) {
    int last = other.length - 1;
    if (other == this) {
      return before(last);
    }
    if (last < 1 || other.text[last] < 0 || other.text[last - 1] < 0) {
      return -1;
    }
    return latest[slot(other.text[last - 1], other.text[last])] - 1;
  }

  /**
   * The position of the last token here that is the last of a text, which may be this one; -1 if
   * there is none, or a token with the same hash came after it.
   */
  int latestToken(TextIndex other) {
    int token = other.last();
    int at = (token < 0 ? 0 : other == this ? again : latestTokens[slot(token)]) - 1;
    return at >= 0 && text[at] == token ? at : -1;
  }

  /** The end of the pair before that may be the same as the one that ends there; -1 if none. */
  int before(int end) {
    return previous[end] - 1;
  }

  /** Returns a token; a separator at the end of the text. */
  int at(int position) {
    return position < length ? text[position] : SEPARATOR;
  }

  /**
   * Returns the token {@code ahead} tokens after a position in the text. After the end of the text,
   * the tokens from the position repeat.
   */
  int repeating(int position, int ahead) {
    return text[position + ahead % (length - position)];
  }

  int last() {
    return text[length - 1];
  }

  int length() {
    return length;
  }

  /** The memory that the text takes. */
  long bytes() {
    return 4L * (text.length + previous.length + latest.length + latestTokens.length);
  }

  private int slot(int token) {
    return token * 0x9E3779B1 >>> 8 & latestTokens.length - 1;
  }

  private int slot(int first, int second) {
    int hash = (first * 0x9E3779B1 ^ second * 0x85EBCA6B) * 0xC2B2AE35;
    return hash >>> 8 & latest.length - 1;
  }

  private void link(int position) {
    if (text[position] >= 0) {
      int slot = slot(text[position]);
      again = latestTokens[slot];
      latestTokens[slot] = position + 1;
    }
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
    latestTokens = new int[2 * latestTokens.length];
    for (int i = 0; i < length; i++) {
      link(i);
    }
  }
}
