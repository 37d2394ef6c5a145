package io.radixflow.operators.cache;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the tree must be equal to: a map from each cached prefix of whole pages to the page that
 * ends it, evicted one by one in the order of their last use.
 */
final class NaiveCache {

  /** One cached page. */
  private static final class Entry {
    final int page;
    int locks;
    long lastUse;

    Entry(int page) {
      this.page = page;
    }
  }

  private final int pageTokens;
  private final Map<List<Integer>, Entry> entries = new HashMap<>();
  private long clock;

  NaiveCache(int pageTokens) {
    this.pageTokens = pageTokens;
  }

  private List<Integer> prefix(int[] tokens, int pages) {
    return Arrays.stream(tokens, 0, pages * pageTokens).boxed().toList();
  }

  List<Integer> match(int[] tokens) {
    List<Integer> pages = new ArrayList<>();
    for (int i = 1; i <= tokens.length / pageTokens; i++) {
      Entry entry = entries.get(prefix(tokens, i));
      if (entry == null) {
        break;
      }
      pages.add(entry.page);
    }
    return pages;
  }

  void lock(int[] tokens, int from, int to) {
    for (int i = from + 1; i <= to; i++) {
      entries.get(prefix(tokens, i)).locks++;
    }
  }

  /** The end of a path is used before its beginning, so that it is evicted before it. */
  void unlock(int[] tokens, int pages) {
    for (int i = pages; i > 0; i--) {
      Entry entry = entries.get(prefix(tokens, i));
      if (--entry.locks == 0) {
        entry.lastUse = clock++;
      }
    }
  }

  void add(int[] tokens, int index, int page) {
    entries.put(prefix(tokens, index + 1), new Entry(page));
  }

  List<Integer> evict(int count) {
    List<Integer> evicted = new ArrayList<>();
    while (evicted.size() < count) {
      List<Integer> oldest = null;
      for (Map.Entry<List<Integer>, Entry> each : entries.entrySet()) {
        if (each.getValue().locks == 0
            && (oldest == null || each.getValue().lastUse < entries.get(oldest).lastUse)) {
          oldest = each.getKey();
        }
      }
      if (oldest == null) {
        break;
      }
      evicted.add(entries.remove(oldest).page);
    }
    return evicted;
  }

  int evictable() {
    return (int) entries.values().stream().filter(entry -> entry.locks == 0).count();
  }

  int size() {
    return entries.size();
  }
}
