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
 * <p>Until the first page is evicted, each field but the numbers of nodes must equal the trace's.
 * From then on the contents differ by design, and these rules hold instead:
 *
 * <ul>
 *   <li>A look-up finds at least as much as a {@link PageModel} of the same policy after the same
 *       operations, and where both find a page, it has the same slots.
 *   <li>An eviction frees as many pages as were asked for, or all that may go, and none of a locked
 *       path.
 *   <li>After each operation, evictable and protected pages add up to those cached.
 * </ul>
 *
 * <p>Both caches do the same: they free exactly the pages asked for, the tokens asked for rounded
 * up to whole pages, and date a use by its end, so that locked pages count as used when they are
 * released, where SGLang counts the look-up. A look-up without a lock is a use that ends at once
 * and is not a hit.
 */
public final class NativeReplay extends TraceReplay<NativeReplay.Lock> {
  /** SGLang does not bound what SLRU protects. */
  private static final double SLRU_SHARE = 1;

  private final TraceSetup setup;
  private final PageAllocator allocator;
  private final RadixCache cache;
  private final PageModel model;

  /** The number of each pair of tokens that occurred, for traces whose units are pairs. */
  private final Map<Long, Integer> pairs = new HashMap<>();

  /** Slot of each page's first unit. */
  private final int[] firstSlots;

  /** Locks on each page. */
  private final int[] lockCounts;

  private boolean evicting;
  private boolean evicted;

  /**
   * @param pages what {@link #pagesFor} says for the trace
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

  /** A lock of the trace, held in cache and model. */
  record Lock(TreeNode node, int[] table, List<PageModel.Page> path) {}

  /**
   * Pages of a pool that does not fill up, whatever is evicted.
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

  /** A page became free: a duplicate, or a page that was evicted. */
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

  /** The slots of the first {@code count} pages. */
  private int[] slots(int[] firstOfPages, int count) {
    int[] slots = new int[units(count)];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = firstOfPages[i / setup.pageTokens()] + i % setup.pageTokens();
    }
    return slots;
  }

  /** A namespace that is given is never the public one, be it empty. */
  private RadixKey key(String namespace, int[] tokens) {
    int[] units = setup.bigram() ? numbersOfPairs(tokens) : tokens;
    return new RadixKey(namespace == null ? "" : "ns:" + namespace, units, units.length);
  }

  /** Numbers each pair of neighbouring tokens: equal pairs match as equal tokens do. */
  private int[] numbersOfPairs(int[] tokens) {
    return CompatKey.of(null, tokens, true).units().stream()
        .mapToInt(pair -> pairs.computeIfAbsent(pair, each -> pairs.size()))
        .toArray();
  }
}
