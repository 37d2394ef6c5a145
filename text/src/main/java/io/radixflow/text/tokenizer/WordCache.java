package io.radixflow.text.tokenizer;

import java.util.Arrays;

/**
 * The ids of short pieces that occurred recently. It is a direct-mapped table of immutable entries,
 * so its size is bounded and it needs no locks. A lost race costs another merge but never gives a
 * wrong id.
 */
final class WordCache {

  private static final int SLOTS = 1 << 14;
  private static final int LONGEST = 32;

  private static final class Entry {
    final char[] word;
    final int[] ids;

    Entry(char[] word, int[] ids) {
      this.word = word;
      this.ids = ids;
    }
  }

  private final Entry[] entries = new Entry[SLOTS];

  /** Returns the ids of a piece, or null. The array must not be changed. */
  int[] find(char[] text, int from, int to) {
    if (to - from > LONGEST) {
      return null;
    }
    Entry entry = entries[slot(text, from, to)];
    if (entry == null || entry.word.length != to - from) {
      return null;
    }
    char[] word = entry.word;
    for (int i = 0; i < word.length; i++) {
      if (word[i] != text[from + i]) {
        return null;
      }
    }
    return entry.ids;
  }

  /** Stores the ids of a piece if the piece is short. */
  void put(char[] text, int from, int to, int[] ids, int size) {
    if (to - from <= LONGEST) {
      char[] word = Arrays.copyOfRange(text, from, to);
      entries[slot(text, from, to)] = new Entry(word, Arrays.copyOf(ids, size));
    }
  }

  private static int slot(char[] text, int from, int to) {
    int hash = 0;
    for (int i = from; i < to; i++) {
      hash = 31 * hash + text[i];
    }
    return (hash * 0x9E3779B9) >>> 18;
  }
}
