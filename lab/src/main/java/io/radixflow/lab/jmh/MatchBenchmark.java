package io.radixflow.lab.jmh;

import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.PrefixMatch;
import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.TreeNode;
import io.radixflow.operators.cache.key.RadixKey;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Finds prompts that are cached whole, of one session after the other. */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MatchBenchmark {

  /** A cache that has all that was said, and prompts to look for. */
  @State(Scope.Thread)
  public static class Filled extends ChatState {
    /** Tokens of the prompts; a prompt's of some turn. */
    @Param({"640", "1024", "2176", "4096"})
    public int tokens;

    /** True if the search starts where the session's previous turn ended. */
    @Param({"false", "true"})
    public boolean resumed;

    RadixCache cache;
    private RadixKey[] keys;
    private TreeNode[] ends;
    private int known;
    private int next;

    @Setup
    public void fill() {
      ChatWorkload workload = workload();
      PageAllocator allocator = workload.allocator();
      cache = workload.cache(allocator);
      keys = new RadixKey[sessions];
      TreeNode[] nodes = new TreeNode[sessions];
      workload.fill(cache, allocator, nodes);
      ends = new TreeNode[sessions];
      for (int place = 0; place < sessions; place++) {
        int session = workload.session(place);
        keys[place] = workload.key(session, tokens);
        ends[place] = resumed ? nodes[session] : null;
      }
      known = resumed ? ChatWorkload.endTokens(ChatWorkload.TURNS - 2) / pageTokens : 0;
    }

    PrefixMatch match() {
      int place = next++ % keys.length;
      return cache.match(keys[place], Integer.MAX_VALUE, ends[place], known);
    }
  }

  @Benchmark
  public PrefixMatch match(Filled state) {
    return state.match();
  }
}
