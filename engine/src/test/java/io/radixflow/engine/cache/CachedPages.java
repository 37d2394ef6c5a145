package io.radixflow.engine.cache;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.RadixKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * What the tree must be equal to: a list of pages, each with the whole prefix that it ends. Of
 * those that are neither held nor extended, the first in the order of the policy is evicted.
 */
final class CachedPages {

  /** One cached page: the last of the first {@code end} pages of a key. */
  private final class Page {
    final RadixKey key;
    final int end;
    final int number;
    final long created;
    int locks;
    int uses;
    int priority;
    int retention = TreeNode.NOT_RETAINED;
    long retainedUntil;
    long lastUse;
    boolean fresh = true;

    Page(RadixKey key, int end, int number, long created, int priority) {
      this.key = key;
      this.end = end;
      this.number = number;
      this.created = created;
      this.lastUse = created;
      this.priority = priority;
    }

    /** Returns whether another key begins with the same pages of the same namespaces. */
    boolean isOn(RadixKey other) {
      String namespace = key.namespaceAt(end - 1, pageTokens);
      int length = end * pageTokens;
      return length <= other.length()
          && Arrays.equals(key.tokens(), 0, length, other.tokens(), 0, length)
          && namespace.equals(other.namespaceAt(end - 1, pageTokens))
          && (namespace.equals(NamespaceKey.PUBLIC)
              || key.publicPages(pageTokens) == other.publicPages(pageTokens));
    }

    boolean extendsPage(Page other) {
      return end > other.end && other.isOn(key);
    }

    int effectivePriority() {
      return Math.max(priority, retention);
    }
  }

  private final int pageTokens;
  private final Comparator<Page> order;
  private final List<Page> pages = new ArrayList<>();
  private long clock;

  CachedPages(int pageTokens, String policy) {
    this.pageTokens = pageTokens;
    this.order = order(policy);
  }

  /** Returns the order of a policy; null if what was learned decides. */
  private static Comparator<Page> order(String policy) {
    Comparator<Page> byLastUse = Comparator.comparingLong(page -> page.lastUse);
    Comparator<Page> byCreation = Comparator.comparingLong(page -> page.created);
    return switch (policy) {
      case "lru" -> byLastUse;
      case "mru" -> byLastUse.reversed();
      case "fifo" -> byCreation.thenComparing(byLastUse);
      case "filo" -> byCreation.thenComparing(byLastUse).reversed();
      case "lfu" -> Comparator.<Page>comparingInt(page -> page.uses).thenComparing(byLastUse);
      case "slru" ->
          Comparator.<Page>comparingInt(page -> page.uses >= 2 ? 1 : 0).thenComparing(byLastUse);
      case "priority" -> Comparator.comparingInt(Page::effectivePriority).thenComparing(byLastUse);
      case "lfu-ghost", "adaptive" -> null;
      default -> throw new IllegalArgumentException(policy);
    };
  }

  private Page find(RadixKey key, int end) {
    for (Page page : pages) {
      if (page.end == end && page.isOn(key)) {
        return page;
      }
    }
    return null;
  }

  private Page at(RadixKey key, int end) {
    Page page = find(key, end);
    if (page == null) {
      throw new AssertionError("page " + end + " is not cached");
    }
    return page;
  }

  /** Returns the numbers of the pages that a key finds. */
  List<Integer> match(RadixKey key) {
    List<Integer> found = new ArrayList<>();
    for (int end = 1; end <= key.pages(pageTokens); end++) {
      Page page = find(key, end);
      if (page == null) {
        break;
      }
      found.add(page.number);
    }
    return found;
  }

  void lock(RadixKey key, int from, int to) {
    for (int end = from + 1; end <= to; end++) {
      at(key, end).locks++;
    }
  }

  void unlock(RadixKey key, int end, boolean hit) {
    clock++;
    for (int i = end; i > 0; i--) {
      Page page = at(key, i);
      page.locks--;
      page.fresh = false;
      page.lastUse = clock;
      page.uses += hit ? 1 : 0;
    }
  }

  /** An insertion begins: what it adds is as old as what its request added before. */
  void tick() {
    clock++;
  }

  void add(RadixKey key, int index, int number, int priority) {
    Page before = index == 0 ? null : at(key, index);
    long created = before != null && before.fresh ? before.created : clock;
    pages.add(new Page(key, index + 1, number, created, priority));
  }

  void raise(RadixKey key, int to, int priority) {
    for (int end = to; end > 0; end--) {
      Page page = at(key, end);
      page.priority = Math.max(page.priority, priority);
    }
  }

  /** A hint gives pages {@code from .. to-1} of a key a priority until a time. */
  void retain(RadixKey key, int from, int to, int priority, long until) {
    for (int end = from + 1; end <= to; end++) {
      Page page = at(key, end);
      boolean longer = priority == page.retention && until > page.retainedUntil;
      if (priority > page.retention || longer) {
        page.retention = priority;
        page.retainedUntil = until;
      }
    }
  }

  void expire(long now) {
    for (Page page : pages) {
      if (page.retainedUntil <= now) {
        page.retention = TreeNode.NOT_RETAINED;
      }
    }
  }

  /**
   * A page was evicted.
   *
   * @return why it should not have been, or null
   */
  String evict(int number) {
    Page page = pages.stream().filter(each -> each.number == number).findFirst().orElse(null);
    if (page == null) {
      return "it was not cached";
    }
    Page first = order == null ? page : first();
    pages.remove(page);
    if (page.locks > 0) {
      return "a request holds it";
    }
    if (isExtended(page)) {
      return "others extend it";
    }
    return page == first ? null : "page " + first.number + " goes first";
  }

  /** Returns what the policy evicts next. */
  private Page first() {
    Page first = null;
    for (Page page : pages) {
      boolean before = first == null || order.compare(page, first) < 0;
      if (before && page.locks == 0 && !isExtended(page)) {
        first = page;
      }
    }
    return first;
  }

  /**
   * Removes the page that ends a prefix, which must be neither held nor extended; returns its
   * number.
   */
  int removeFree(RadixKey key, int end) {
    Page page = at(key, end);
    if (page.locks > 0 || isExtended(page)) {
      throw new AssertionError("page " + end + " is in use");
    }
    pages.remove(page);
    return page.number;
  }

  private boolean isExtended(Page page) {
    for (Page other : pages) {
      if (other.extendsPage(page)) {
        return true;
      }
    }
    return false;
  }

  /** Returns how many pages are not held: all of them could be evicted, one after the other. */
  int evictable() {
    return (int) pages.stream().filter(page -> page.locks == 0).count();
  }

  int size() {
    return pages.size();
  }

  void clear() {
    pages.clear();
  }

  /** Returns the numbers of all pages, in order. */
  int[] numbers() {
    return pages.stream().mapToInt(page -> page.number).sorted().toArray();
  }
}
