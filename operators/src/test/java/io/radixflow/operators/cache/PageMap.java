package io.radixflow.operators.cache;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the tree must be equal to: a map from each cached prefix of whole pages to the page that
 * ends it. The first page in the order of the policy that nobody holds and nothing extends is
 * evicted.
 */
final class PageMap {

  /** One cached page. */
  private static final class Entry {
    final int page;
    final long created;
    int locks;
    int uses;
    int priority;
    long lastUse;
    boolean fresh = true;

    Entry(int page, long created, int priority) {
      this.page = page;
      this.created = created;
      this.lastUse = created;
      this.priority = priority;
    }
  }

  private final PageShape shape;
  private final Comparator<Entry> order;
  private final Map<List<Integer>, Entry> entries = new HashMap<>();
  private long clock;

  PageMap(PageShape shape, String policy) {
    this.shape = shape;
    this.order = order(policy);
  }

  private static Comparator<Entry> order(String policy) {
    Comparator<Entry> byLastUse = Comparator.comparingLong(entry -> entry.lastUse);
    Comparator<Entry> byCreation = Comparator.comparingLong(entry -> entry.created);
    return switch (policy) {
      case "lru" -> byLastUse;
      case "mru" -> byLastUse.reversed();
      case "fifo" -> byCreation.thenComparing(byLastUse);
      case "filo" -> byCreation.thenComparing(byLastUse).reversed();
      case "lfu" -> Comparator.<Entry>comparingInt(entry -> entry.uses).thenComparing(byLastUse);
      case "slru" ->
          Comparator.<Entry>comparingInt(entry -> entry.uses >= 2 ? 1 : 0).thenComparing(byLastUse);
      case "priority" ->
          Comparator.<Entry>comparingInt(entry -> entry.priority).thenComparing(byLastUse);
      default -> throw new IllegalArgumentException(policy);
    };
  }

  private List<Integer> prefix(int[] tokens, int pages) {
    return Arrays.stream(tokens, 0, shape.tokensOf(pages)).boxed().toList();
  }

  List<Integer> match(int[] tokens) {
    List<Integer> pages = new ArrayList<>();
    for (int i = 1; shape.tokensOf(i) <= tokens.length; i++) {
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

  void unlock(int[] tokens, int pages, boolean hit) {
    clock++;
    for (int i = pages; i > 0; i--) {
      Entry entry = entries.get(prefix(tokens, i));
      entry.locks--;
      entry.fresh = false;
      entry.lastUse = clock;
      entry.uses += hit ? 1 : 0;
    }
  }

  /** An insertion begins: what it adds is as old as what its request added before. */
  void tick() {
    clock++;
  }

  void add(int[] tokens, int index, int page, int priority) {
    Entry before = index == 0 ? null : entries.get(prefix(tokens, index));
    long created = before != null && before.fresh ? before.created : clock;
    entries.put(prefix(tokens, index + 1), new Entry(page, created, priority));
  }

  void raise(int[] tokens, int pages, int priority) {
    for (int i = pages; i > 0; i--) {
      Entry entry = entries.get(prefix(tokens, i));
      entry.priority = Math.max(entry.priority, priority);
    }
  }

  List<Integer> evict(int count) {
    List<Integer> evicted = new ArrayList<>();
    while (evicted.size() < count) {
      List<Integer> first = null;
      for (Map.Entry<List<Integer>, Entry> each : entries.entrySet()) {
        if (each.getValue().locks == 0
            && isLeaf(each.getKey())
            && (first == null || order.compare(each.getValue(), entries.get(first)) < 0)) {
          first = each.getKey();
        }
      }
      if (first == null) {
        break;
      }
      evicted.add(entries.remove(first).page);
    }
    return evicted;
  }

  /** Removes the page that ends a prefix, which nobody may hold or extend. */
  int removeFree(int[] tokens, int pages) {
    List<Integer> key = prefix(tokens, pages);
    Entry entry = entries.get(key);
    if (entry.locks > 0 || !isLeaf(key)) {
      throw new IllegalStateException("page " + pages + " is in use");
    }
    entries.remove(key);
    return entry.page;
  }

  private boolean isLeaf(List<Integer> key) {
    return entries.keySet().stream()
        .noneMatch(other -> other.size() > key.size() && other.subList(0, key.size()).equals(key));
  }

  int evictable() {
    return (int) entries.values().stream().filter(entry -> entry.locks == 0).count();
  }

  int size() {
    return entries.size();
  }
}
