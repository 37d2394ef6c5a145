package io.radixflow.lab.bench.operation;

import com.sun.management.ThreadMXBean;
import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.lab.bench.Figures;
import java.lang.management.ManagementFactory;
import java.util.function.Supplier;

/**
 * The heap that the cache needs.
 *
 * @param matchBytes bytes allocated by one match of a whole prompt
 * @param handleBytes bytes of the match's result, included above
 * @param pageBytes heap per cached page of the chats: token ids, page numbers, nodes
 * @param pages number of these pages
 * @param leafBytes heap per page that is a separate leaf
 */
record CacheFootprint(
    double matchBytes, double handleBytes, double pageBytes, int pages, double leafBytes) {
  private static final int LEAVES = 100_000;
  private static final int WARM_UP = 200_000;
  private static final int MATCHES = 100_000;

  /** Builds the caches in this process and measures. */
  static CacheFootprint measure(int sessions, int pageTokens, String policy) {
    ChatWorkload workload = new ChatWorkload(sessions, pageTokens, policy);
    PageAllocator allocator = workload.allocator();
    long empty = usedBytes();
    RadixCache cache = workload.cache(allocator);
    workload.fill(cache, allocator, null);
    double pageBytes = (double) (usedBytes() - empty) / cache.evictablePages();
    RadixKey[] keys = new RadixKey[sessions];
    for (int i = 0; i < sessions; i++) {
      keys[i] = workload.key(i, ChatWorkload.promptTokens(ChatWorkload.TURNS - 1));
    }
    int[] next = {0};
    double matchBytes =
        allocatedBytes(() -> cache.match(keys[next[0]++ % sessions], Integer.MAX_VALUE, null, 0));
    double handleBytes = allocatedBytes(() -> new PrefixMatch(null, 0, 0));
    return new CacheFootprint(
        matchBytes, handleBytes, pageBytes, cache.evictablePages(), leafBytes(pageTokens, policy));
  }

  private static double leafBytes(int pageTokens, String policy) {
    PageAllocator allocator = ChatWorkload.allocator(LEAVES, pageTokens);
    long empty = usedBytes();
    Leaves leaves = new Leaves(allocator, pageTokens, policy);
    double bytes = (double) (usedBytes() - empty) / LEAVES;
    OperationTimes.sink = leaves;
    return bytes;
  }

  private static double allocatedBytes(Supplier<PrefixMatch> operation) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    for (int i = 0; i < WARM_UP; i++) {
      OperationTimes.sink = operation.get();
    }
    long before = threads.getThreadAllocatedBytes(thread);
    for (int i = 0; i < MATCHES; i++) {
      OperationTimes.sink = operation.get();
    }
    return (double) (threads.getThreadAllocatedBytes(thread) - before) / MATCHES;
  }

  /** Returns the reachable bytes of the heap. */
  private static long usedBytes() {
    Runtime runtime = Runtime.getRuntime();
    long used = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      used = Math.min(used, runtime.totalMemory() - runtime.freeMemory());
    }
    return used;
  }

  void addTo(Figures figures) {
    figures.note(
        "a match allocates %.1f bytes, of which its result is %.1f", matchBytes, handleBytes);
    figures.note(
        "a cached page takes %.0f bytes of heap (%,d pages of chats), %.0f as a leaf of its own",
        pageBytes, pages, leafBytes);
    figures.json().put("match_allocated_bytes", matchBytes).put("handle_bytes", handleBytes);
    figures.json().put("cached_page_bytes", pageBytes).put("leaf_page_bytes", leafBytes);
  }
}
