package io.radixflow.lab.replay.sglang;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A model of a cache of single pages that evicts exactly by its policy. It is a flat collection of
 * pages. The previous page and the page's own units identify a page, and each page has its own
 * times and counts. There are no nodes, so pages are never split, merged or evicted together.
 *
 * <p>An eviction looks at all pages, and drops the first page in the policy's order that is not
 * locked and has no page after it. This is repeated for each requested page. An operation stamps
 * the pages that it uses with its number, and these pages are on one path. At most one page of a
 * path has no page after it. So no two candidates have the same time, every order that ends with a
 * time is total, and no tie can make a cache better or worse than another: two caches with the same
 * policy hold the same pages.
 */
public final class PageModel {
  /** Identifies a page by its units and the prefix before them. */
  private record Place(Page before, CompatKey units) {}

  /** A cached page. Operation numbers are its times. */
  public static final class Page extends CompatUse {
    private final Place place;
    private final int firstSlot;
    private int locks;
    private int pagesAfter;

    private Page(Place place, long now, int firstSlot) {
      super(now, 0);
      this.place = place;
      this.firstSlot = firstSlot;
    }

    public int firstSlot() {
      return firstSlot;
    }

    private boolean mayGo() {
      return locks == 0 && pagesAfter == 0;
    }
  }

  private final int pageUnits;
  private final boolean bigram;
  private final Comparator<CompatUse> order;
  private final Map<Place, Page> pages = new HashMap<>();
  private long now;

  public PageModel(CompatPolicy policy, int pageUnits, boolean bigram) {
    this.pageUnits = pageUnits;
    this.bigram = bigram;
    this.order = policy.order();
  }

  /** Returns the cached pages at the beginning of a sequence. */
  public List<Page> match(String namespace, int[] tokens) {
    List<Page> path = new ArrayList<>();
    Page last = null;
    for (CompatKey units : split(namespace, tokens)) {
      last = pages.get(new Place(last, units));
      if (last == null) {
        break;
      }
      path.add(last);
    }
    return path;
  }

  /** Stores the missing pages of a sequence, and uses all of its pages. */
  public void insert(String namespace, int[] tokens, int firstSlot, int priority) {
    now++;
    List<Page> path = new ArrayList<>();
    Page last = null;
    for (CompatKey units : split(namespace, tokens)) {
      Place place = new Place(last, units);
      last = pages.get(place);
      if (last == null) {
        last = new Page(place, now, firstSlot + path.size() * pageUnits);
        add(last);
      }
      path.add(last);
    }
    for (Page page : path) {
      page.accessedAt = now;
      page.hit(priority);
    }
  }

  public void lock(List<Page> path) {
    path.forEach(page -> page.locks++);
  }

  /** Ends a use, which is not a hit. The time of the use is its end. */
  public void unlock(List<Page> path) {
    now++;
    for (Page page : path) {
      page.locks--;
      page.accessedAt = now;
    }
  }

  public void evict(int count) {
    for (int i = 0; i < count; i++) {
      Page first = null;
      for (Page page : pages.values()) {
        if (page.mayGo() && (first == null || order.compare(page, first) < 0)) {
          first = page;
        }
      }
      if (first == null) {
        break;
      }
      remove(first);
    }
  }

  private void add(Page page) {
    pages.put(page.place, page);
    if (page.place.before != null) {
      page.place.before.pagesAfter++;
    }
  }

  private void remove(Page page) {
    pages.remove(page.place);
    if (page.place.before != null) {
      page.place.before.pagesAfter--;
    }
  }

  private List<CompatKey> split(String namespace, int[] tokens) {
    CompatKey key = CompatKey.of(namespace, tokens, bigram).wholePages(pageUnits);
    List<CompatKey> split = new ArrayList<>();
    for (int from = 0; from < key.length(); from += pageUnits) {
      split.add(key.slice(from, from + pageUnits));
    }
    return split;
  }
}
