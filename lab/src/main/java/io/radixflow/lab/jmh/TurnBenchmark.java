package io.radixflow.lab.jmh;

import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.PrefixMatch;
import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.TreeNode;
import io.radixflow.operators.cache.key.RadixKey;
import io.radixflow.operators.record.kv.KvEvent;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * All that a turn asks of the cache: match, lock, the page table of what matched, insert of the
 * rest, unlock. Sessions take turns until all is said; then the cache is emptied, outside of the
 * time, and they begin again.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TurnBenchmark {

  /** The conversations and how far each has come. */
  @State(Scope.Thread)
  public static class Talk extends ChatState {
    /** True if a session's search starts where its previous turn ended. */
    @Param({"false", "true"})
    public boolean resumed;

    /** True if events are published, so that each page's SHA-256 is computed. */
    @Param({"false", "true"})
    public boolean events;

    private ChatWorkload workload;
    private PageAllocator allocator;
    private RadixCache cache;
    private TreeNode[] ends;
    private int[] table;
    private int place = -1;
    private int turn;
    private int session;

    @Setup
    public void begin(Blackhole blackhole) {
      workload = workload();
      allocator = workload.allocator();
      cache = workload.cache(allocator);
      if (events) {
        cache.listen((KvEvent event) -> blackhole.consume(event), false);
      }
      ends = new TreeNode[sessions];
      table = new int[workload.maxPages()];
    }

    /** Gives the next turn the pages that it will need. */
    @Setup(Level.Invocation)
    public void next() {
      if (++place == sessions) {
        place = 0;
        if (++turn == ChatWorkload.TURNS) {
          turn = 0;
          cache.reset();
          Arrays.fill(ends, null);
        }
      }
      session = workload.session(place);
      allocator.allocExtend(table, cachedTokens(), ChatWorkload.endTokens(turn));
    }

    private int cachedTokens() {
      if (turn > 0) {
        return ChatWorkload.endTokens(turn - 1);
      }
      return place == 0 ? 0 : ChatWorkload.SYSTEM;
    }

    TreeNode take() {
      RadixKey prompt = workload.key(session, ChatWorkload.promptTokens(turn));
      int known = turn == 0 ? 0 : ChatWorkload.endTokens(turn - 1) / pageTokens;
      TreeNode from = resumed ? ends[session] : null;
      PrefixMatch match = cache.match(prompt, Integer.MAX_VALUE, from, from == null ? 0 : known);
      RadixKey all = workload.key(session, ChatWorkload.endTokens(turn));
      TreeNode end = ChatWorkload.store(cache, match, all, table);
      ends[session] = end;
      return end;
    }
  }

  @Benchmark
  public TreeNode turn(Talk state) {
    return state.take();
  }
}
