package io.radixflow.lab.bench.operation;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.protocol.record.kv.KvEvent;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * All cache operations of a turn: match, lock, copy of the matched page table, insert of the rest,
 * unlock. Sessions take turns until all turns are done. Then the cache is emptied, outside of the
 * measured time, and they start again.
 */
final class CacheTurns implements OperationTimes.Operation {
  private final ChatWorkload workload;
  private final boolean resumed;
  private final PageAllocator allocator;
  private final RadixCache cache;
  private final TreeNode[] ends;
  private final int[] table;
  private int place = -1;
  private int turn;
  private int session;

  /**
   * @param resumed whether a search starts where the session's previous turn ended
   * @param events receives the events of pages; null if events are not published
   */
  CacheTurns(ChatWorkload workload, boolean resumed, Consumer<KvEvent> events) {
    this.workload = workload;
    this.resumed = resumed;
    allocator = workload.allocator();
    cache = workload.cache(allocator);
    if (events != null) {
      cache.listen(events::accept, false);
    }
    ends = new TreeNode[workload.sessions()];
    table = new int[workload.maxPages()];
  }

  /** Allocates the pages for the next turn. */
  @Override
  public void prepare() {
    if (++place == ends.length) {
      place = 0;
      if (++turn == ChatWorkload.TURNS) {
        turn = 0;
        cache.reset();
        Arrays.fill(ends, null);
      }
    }
    session = workload.session(place);
    int shared = place == 0 ? 0 : ChatWorkload.SYSTEM;
    int cached = turn > 0 ? ChatWorkload.endTokens(turn - 1) : shared;
    allocator.allocExtend(table, cached, ChatWorkload.endTokens(turn));
  }

  @Override
  public Object run() {
    RadixKey prompt = workload.key(session, ChatWorkload.promptTokens(turn));
    TreeNode from = resumed ? ends[session] : null;
    int known = from == null ? 0 : ChatWorkload.endTokens(turn - 1) / workload.pageTokens();
    PrefixMatch match = cache.match(prompt, Integer.MAX_VALUE, from, known);
    RadixKey all = workload.key(session, ChatWorkload.endTokens(turn));
    return ends[session] = ChatWorkload.store(cache, match, all, table);
  }
}
