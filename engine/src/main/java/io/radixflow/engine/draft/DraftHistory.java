package io.radixflow.engine.draft;

import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Tokens of the turns that ended last, for drafts of others of the same namespace, and of no other:
 * how quick a reply is must not show what other tenants have written.
 *
 * <p>A namespace has a few texts of {@value #TEXT_TOKENS} tokens, of which the oldest goes when
 * there are too many. If all take too much memory, the namespace goes that was used longest ago.
 * Engine thread only.
 */
final class DraftHistory {
  /** Tokens of a text that takes no more turns. */
  static final int TEXT_TOKENS = 1 << 15;

  /** Tokens of one turn that are kept, the last ones. */
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

  /** Changes when texts were erased. */
  int version() {
    return version;
  }

  /** An estimate of the memory of all texts. */
  long bytes() {
    return bytes;
  }

  /** Adds tokens of a turn that has ended; of more than {@link #TURN_TOKENS} the last. */
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

  /** Drops namespaces while all take too much memory, and the older texts of the last one. */
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

  /** Drops all texts, as a session or a tenant is erased. */
  void clear() {
    texts.clear();
    bytes = 0;
    version++;
  }
}
