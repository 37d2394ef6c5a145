package io.radixflow.lab.replay;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.lab.replay.sglang.CompatKey;
import io.radixflow.lab.replay.sglang.CompatPolicy;
import io.radixflow.lab.replay.sglang.PageModel;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Replays on the cache that serves, which neither splits on look-ups nor evicts whole nodes.
 *
 * <p>Until the first page is evicted, each field except the numbers of nodes must equal the
 * trace's. After that the contents differ by design, and these rules apply instead:
 *
 * <ul>
 *   <li>A look-up finds at least as much as a {@link PageModel} of the same policy after the same
 *       operations. If both find a page, the page has the same slots.
 *   <li>An eviction frees as many pages as requested, or all evictable pages, and no page of a
 *       locked path.
 *   <li>After each operation, evictable and protected pages add up to the cached pages.
 * </ul>
 *
 * <p>The cache and the model behave in the same way. They free exactly the requested pages;
 * requested tokens are rounded up to whole pages. The time of a use is its end, so locked pages
 * count as used when they are released, whereas SGLang counts the look-up. A look-up without a lock
 * is a use that ends immediately and is not a hit.
 */
public final class NativeReplay extends TraceReplay<NativeReplay.Lock> {
  /** SGLang does not limit the pages that SLRU protects. */
  private static final double SLRU_SHARE = 1;

  private final TraceSetup setup;
  private final PageAllocator allocator;
  private final RadixCache cache;
  private final PageModel model;

  /** Numbers of the pairs of tokens that have occurred, for traces whose units are pairs. */
  private final Map<Long, Integer> pairs = new HashMap<>();

  /** Slot of each page's first unit. */
  private final int[] firstSlots;

  /** Locks on each page. */
  private final int[] lockCounts;

  private boolean evicting;
  private boolean evicted;

  /**
   * @param pages result of {@link #pagesFor} for the trace
   * @throws IllegalArgumentException if there is no such policy
   */
  public NativeReplay(TraceSetup setup, int pages, ReplayReport report) {
    super(report);
    this.setup = setup;
    this.allocator = new PageAllocator(pages, this::freed);
    this.cache =
        new RadixCache(
            allocator,
            setup.pageTokens(),
            EvictionPolicies.of(setup.policy(), pages, SLRU_SHARE),
            0);
    this.model =
        new PageModel(CompatPolicy.named(setup.policy()), setup.pageTokens(), setup.bigram());
    this.firstSlots = new int[pages];
    this.lockCounts = new int[pages];
  }

  /** A lock of the trace in cache and model. */
  record Lock(TreeNode node, int[] table, List<PageModel.Page> path) {}

  /**
   * Returns the pages of a pool that does not fill up, whatever is evicted.
   *
   * @throws IllegalArgumentException if there can be no such pool
   */
  public static int pagesFor(TraceSetup setup, List<TraceStep> steps) {
    long pages = 0;
    for (TraceStep step : steps) {
      if (step.operation() instanceof TraceOperation.Insert insert) {
        pages += setup.pages(insert.tokens());
      }
    }
    if (pages > Integer.MAX_VALUE - 8) {
      throw new IllegalArgumentException(
          "the trace stores " + pages + " pages, too many for a pool");
    }
    return (int) pages;
  }

  @Override
  void insert(TraceOperation.Insert insert) {
    RadixKey key = key(insert.namespace(), insert.tokens());
    PrefixMatch match = cache.match(key, Integer.MAX_VALUE);
    comparePrefix(insert, match.pages());
    TreeNode node = cache.lock(key, match);
    int[] table = new int[setup.pages(insert.tokens())];
    cache.copyPages(node, match.pages(), table);
    for (int i = match.pages(); i < table.length; i++) {
      table[i] = allocator.allocate();
      firstSlots[table[i]] = insert.firstSlot() + i * setup.pageTokens();
    }
    PrefixMatch end =
        cache.insert(node, key, match.pages(), table.length, table, true, insert.priority());
    cache.unlock(end.node(), true);
    model.insert(insert.namespace(), insert.tokens(), insert.firstSlot(), insert.priority());
  }

  private void comparePrefix(TraceOperation.Insert insert, int present) {
    if (evicted) {
      compareAtLeast("prefixLen", model.match(insert.namespace(), insert.tokens()).size(), present);
    } else {
      report.compare("prefixLen", insert.present(), units(present));
    }
  }

  @Override
  void match(TraceOperation.Match match) {
    RadixKey key = key(match.namespace(), match.tokens());
    PrefixMatch found = cache.match(key, Integer.MAX_VALUE);
    TreeNode node = cache.lock(key, found);
    int[] table = new int[found.pages()];
    cache.copyPages(node, table.length, table);
    Lock lock = new Lock(node, table, model.match(match.namespace(), match.tokens()));
    count(lock);
    compareFound(match, lock);
    if (match.lock() == null) {
      unlock(lock);
    } else {
      hold(match.lock(), lock);
    }
  }

  private void compareFound(TraceOperation.Match match, Lock lock) {
    int[] found = Arrays.stream(lock.table).map(page -> firstSlots[page]).toArray();
    report.addMatched(units(found.length));
    if (evicted) {
      int[] expected = lock.path.stream().mapToInt(PageModel.Page::firstSlot).toArray();
      int both = Math.min(expected.length, found.length);
      compareAtLeast("matched", expected.length, found.length);
      report.compare("values", slots(expected, both), slots(found, both));
    } else {
      report.compare("matched", match.matched(), units(found.length));
      report.compare("values", match.slots(), slots(found, found.length));
    }
  }

  private void count(Lock lock) {
    model.lock(lock.path);
    for (int page : lock.table) {
      lockCounts[page]++;
    }
  }

  @Override
  void unlock(Lock lock) {
    for (int page : lock.table) {
      lockCounts[page]--;
    }
    model.unlock(lock.path);
    cache.unlock(lock.node, false);
  }

  @Override
  void evict(TraceOperation.Evict evict) {
    int pages = pagesToFree(evict.request());
    int expected = Math.min(pages, cache.evictablePages());
    evicting = true;
    int count = cache.evict(pages);
    evicting = false;
    model.evict(pages);
    evicted |= count > 0;
    report.addEvicted(units(count));
    report.compare("evicted", units(expected), units(count));
  }

  private int pagesToFree(int request) {
    int whole = Math.max(0, request);
    return whole / setup.pageTokens() + (whole % setup.pageTokens() == 0 ? 0 : 1);
  }

  /** Called when a page becomes free: a duplicate, or an evicted page. */
  private void freed(int page) {
    if (evicting && lockCounts[page] > 0) {
      report.add("freedValues", "no page of a locked path", "slot " + firstSlots[page]);
    }
  }

  private void compareAtLeast(String field, int expectedPages, int foundPages) {
    if (foundPages < expectedPages) {
      report.add(field, "at least " + units(expectedPages), Integer.toString(units(foundPages)));
    }
  }

  @Override
  void compare(TraceCounts expected) {
    int evictable = units(cache.evictablePages());
    int protectedUnits = units(cache.protectedPages());
    report.compare("evictable + protected", units(allocator.cached()), evictable + protectedUnits);
    if (!evicted) {
      report.compare("evictable", expected.evictable(), evictable);
      report.compare("protected", expected.protectedUnits(), protectedUnits);
      report.compare("total", expected.total(), evictable + protectedUnits);
    }
  }

  private int units(int pages) {
    return pages * setup.pageTokens();
  }

  /** Returns the slots of the first {@code count} pages. */
  private int[] slots(int[] firstOfPages, int count) {
    int[] slots = new int[units(count)];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = firstOfPages[i / setup.pageTokens()] + i % setup.pageTokens();
    }
    return slots;
  }

  /** Returns a key. A given namespace is never the public one, even if it is empty. */
  private RadixKey key(String namespace, int[] tokens) {
    int[] units = setup.bigram() ? numbersOfPairs(tokens) : tokens;
    return new RadixKey(namespace == null ? "" : "ns:" + namespace, units, units.length);
  }

  /** Returns a number for each pair of neighbouring tokens; equal pairs get equal numbers. */
  private int[] numbersOfPairs(int[] tokens) {
    return CompatKey.of(null, tokens, true).units().stream()
        .mapToInt(pair -> pairs.computeIfAbsent(pair, each -> pairs.size()))
        .toArray();
  }
}
