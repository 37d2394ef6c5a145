package io.radixflow.engine.draft;

import java.util.Arrays;

/**
 * A text that grows token by token, with an index of its tokens and of its pairs of tokens. The
 * ends of equal pairs are chained from the latest to the first. {@link #add} takes constant time;
 * arrays double as the text grows.
 */
final class TextIndex {
  /** Separates parts of the text; matches nothing. */
  static final int SEPARATOR = -1;

  private int[] text;
  private int length;

  /** By position: 1 + the end of the previous pair with the same hash; 0 if there is none. */
  private int[] previous;

  /** By hash: 1 + the end of the last pair. */
  private int[] latest;

  /** By hash: 1 + the position of the last token with this hash. */
  private int[] latestTokens;

  /** 1 + the previous position of a token with the last token's hash. */
  private int again;

  /**
   * @param capacity number of tokens to have room for
   */
  TextIndex(int capacity) {
    int size = Math.max(64, capacity);
    text = new int[size];
    previous = new int[size];
    latest = new int[Integer.highestOneBit(size) * 2];
    latestTokens = new int[latest.length];
  }

  void add(int token) {
    if (length == text.length) {
      grow();
    }
    text[length] = token;
    link(length++);
  }

  /**
   * Returns how many tokens before {@code end} in the other text equal the last tokens of this
   * text, at most {@code limit}.
   */
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
   * Returns the end of the last pair of this text that may equal the last two tokens of {@code
   * other}; -1 if there is none. {@code other} may be this text.
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
   * Returns the last position in this text of the last token of {@code other}; -1 if there is none,
   * or a later token has the same hash. {@code other} may be this text.
   */
  int latestToken(TextIndex other) {
    int token = other.last();
    int at = (token < 0 ? 0 : other == this ? again : latestTokens[slot(token)]) - 1;
    return at >= 0 && text[at] == token ? at : -1;
  }

  /**
   * Returns the end of the previous pair that may equal the pair ending at {@code end}; -1 if there
   * is none.
   */
  int before(int end) {
    return previous[end] - 1;
  }

  /** Returns the token at a position; a separator at the end of the text. */
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

  /** Returns the memory that the text takes. */
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
