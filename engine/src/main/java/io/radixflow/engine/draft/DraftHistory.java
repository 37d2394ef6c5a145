package io.radixflow.engine.draft;

import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Tokens of recent turns, for drafts of other turns of the same namespace. Other namespaces never
 * use them, because the speed of a reply must not reveal what other tenants have written.
 *
 * <p>A namespace has a few texts of {@value #TEXT_TOKENS} tokens; if there are too many, the oldest
 * text is dropped. If all texts together take too much memory, the least recently used namespace is
 * dropped. Engine thread only.
 */
final class DraftHistory {
  /** The length in tokens at which a text is full. */
  static final int TEXT_TOKENS = 1 << 15;

  /** How many of the last tokens of a turn are kept. */
  static final int TURN_TOKENS = 1 << 13;

  private static final int MOST_TEXTS = 8;
  private static final TextIndex[] NONE = {};

  private final long mostBytes;
  private final Map<String, TextIndex[]> texts = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;
  private int version;

  /**
   * @param mostBytes memory of all texts; 0 for no history
   */
  DraftHistory(long mostBytes) {
    this.mostBytes = mostBytes;
  }

  /** The texts of a namespace, the latest first. */
  TextIndex[] texts(String namespace) {
    return texts.getOrDefault(namespace, NONE);
  }

  /** Returns a number that changes whenever texts are erased. */
  int version() {
    return version;
  }

  /** Returns an estimate of the memory of all texts. */
  long bytes() {
    return bytes;
  }

  /** Adds the last {@link #TURN_TOKENS} tokens of a turn that has ended. */
  void add(String namespace, int[] tokens, int from, int to) {
    if (mostBytes == 0 || from >= to) {
      return;
    }
    TextIndex text = open(namespace);
    long before = text.bytes();
    for (int i = Math.max(from, to - TURN_TOKENS); i < to; i++) {
      text.add(tokens[i]);
    }
    text.add(TextIndex.SEPARATOR);
    bytes += text.bytes() - before;
    shrink();
  }

  /** Returns the text that takes the next turn. */
  private TextIndex open(String namespace) {
    TextIndex[] known = texts(namespace);
    if (known.length > 0 && known[0].length() < TEXT_TOKENS) {
      return known[0];
    }
    if (known.length == MOST_TEXTS) {
      bytes -= known[MOST_TEXTS - 1].bytes();
    }
    TextIndex[] more = new TextIndex[Math.min(MOST_TEXTS, known.length + 1)];
    System.arraycopy(known, 0, more, 1, more.length - 1);
    more[0] = new TextIndex(1 << 10);
    bytes += more[0].bytes();
    texts.put(namespace, more);
    return more[0];
  }

  /**
   * Drops namespaces while the texts take too much memory. From the last namespace it drops the
   * older texts.
   */
  private void shrink() {
    Iterator<Map.Entry<String, TextIndex[]>> eldest = texts.entrySet().iterator();
    while (bytes > mostBytes) {
      Map.Entry<String, TextIndex[]> entry = eldest.next();
      TextIndex[] known = entry.getValue();
      if (texts.size() > 1 || known.length == 1) {
        for (TextIndex text : known) {
          bytes -= text.bytes();
        }
        eldest.remove();
        if (texts.isEmpty()) {
          return;
        }
      } else {
        bytes -= known[known.length - 1].bytes();
        entry.setValue(Arrays.copyOf(known, known.length - 1));
        eldest = texts.entrySet().iterator();
      }
    }
  }

  /** Drops all texts, because a session or a tenant is erased. */
  void clear() {
    texts.clear();
    bytes = 0;
    version++;
  }
}
