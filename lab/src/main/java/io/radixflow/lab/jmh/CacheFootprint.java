package io.radixflow.lab.jmh;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.management.ThreadMXBean;
import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.key.RadixKey;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * The heap that the cache needs.
 *
 * @param matchBytes allocated by one match of a whole prompt
 * @param handleBytes of these, the result
 * @param pageBytes kept for each cached page of the chats: token ids, page numbers, nodes
 * @param pages how many these are
 * @param leafBytes kept for each page that is a leaf of its own
 */
public record CacheFootprint(
    double matchBytes, double handleBytes, double pageBytes, int pages, double leafBytes) {
  private static final int LEAVES = 100_000;
  private static final int WARM_UP = 200_000;
  private static final int MATCHES = 100_000;

  /** Allocations are stored here, so that the compiler removes none. */
  private static volatile Object sink;

  /** Builds the caches in this process and measures. */
  public static CacheFootprint measure(int sessions, int pageTokens, String policy) {
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
    sink = leaves;
    return bytes;
  }

  private static double allocatedBytes(Supplier<PrefixMatch> operation) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    for (int i = 0; i < WARM_UP; i++) {
      sink = operation.get();
    }
    long before = threads.getThreadAllocatedBytes(thread);
    for (int i = 0; i < MATCHES; i++) {
      sink = operation.get();
    }
    return (double) (threads.getThreadAllocatedBytes(thread) - before) / MATCHES;
  }

  /** Bytes of the heap that are reachable. */
  private static long usedBytes() {
    Runtime runtime = Runtime.getRuntime();
    long used = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      used = Math.min(used, runtime.totalMemory() - runtime.freeMemory());
    }
    return used;
  }

  /** Allows one byte in ten matches: the counter also counts what other code allocates. */
  private boolean isLean() {
    return matchBytes < handleBytes + 0.1;
  }

  void print(PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "a match allocates %.1f bytes, its result is %.1f; goal no more than that: %s%n",
        matchBytes,
        handleBytes,
        CacheBenchCommand.met(isLean()));
    out.printf(
        Locale.ROOT,
        "a cached page takes %.0f bytes of heap (%,d pages of chats), %.0f as a leaf of its own%n",
        pageBytes,
        pages,
        leafBytes);
  }

  void putInto(ObjectNode json) {
    json.put("match_allocated_bytes", matchBytes).put("handle_bytes", handleBytes);
    json.put("allocation_goal_met", isLean());
    json.put("cached_page_bytes", pageBytes).put("leaf_page_bytes", leafBytes);
  }
}
