package io.radixflow.lab.jmh;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import java.util.Arrays;
import java.util.SplittableRandom;
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

/** One operation on a radix cache, by its name. */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CacheBenchmark {
  private static final int MISSING_KEYS = 1024;
  private static final int MISSING_TOKENS = 512;

  /** An operation, and its preparation outside of the time. */
  interface Operation {
    default void prepare() {}

    Object run();
  }

  /** A cache with an operation on it. */
  @State(Scope.Thread)
  public static class Measured {
    @Param("16")
    public int pageTokens;

    @Param("lru")
    public String policy;

    @Param({"match", "miss", "evict", "turn"})
    public String operation;

    /** Sessions of the chats of match and turn. */
    @Param("500")
    public int sessions;

    /** Tokens of the prompts of match. */
    @Param("4096")
    public int tokens;

    /** True if a search starts where the session's previous turn ended. */
    @Param("false")
    public boolean resumed;

    /** True if turns publish events, so that each page's SHA-256 is computed. */
    @Param("false")
    public boolean events;

    /** Leaves of the tree of miss and evict. */
    @Param("1000")
    public int leaves;

    private Operation measured;

    @Setup
    public void fill(Blackhole blackhole) {
      measured =
          switch (operation) {
            case "match" -> match();
            case "miss" -> miss();
            case "evict" -> evict();
            default -> new CacheTurns(workload(), resumed, events ? blackhole::consume : null);
          };
    }

    @Setup(Level.Invocation)
    public void prepare() {
      measured.prepare();
    }

    private ChatWorkload workload() {
      return new ChatWorkload(sessions, pageTokens, policy);
    }

    /** Finds prompts that are cached whole, of one session after the other. */
    private Operation match() {
      ChatWorkload workload = workload();
      PageAllocator allocator = workload.allocator();
      RadixCache cache = workload.cache(allocator);
      TreeNode[] ends = new TreeNode[sessions];
      workload.fill(cache, allocator, ends);
      RadixKey[] keys = new RadixKey[sessions];
      TreeNode[] from = new TreeNode[sessions];
      for (int place = 0; place < sessions; place++) {
        int session = workload.session(place);
        keys[place] = workload.key(session, tokens);
        from[place] = resumed ? ends[session] : null;
      }
      int known = resumed ? ChatWorkload.endTokens(ChatWorkload.TURNS - 2) / pageTokens : 0;
      int[] next = {0};
      return () -> {
        int place = next[0]++ % keys.length;
        return cache.match(keys[place], Integer.MAX_VALUE, from[place], known);
      };
    }

    /** Looks for prompts of which nothing is cached: the leaves have other token ids. */
    private Operation miss() {
      RadixCache cache = new Leaves(leaves, pageTokens, policy).cache();
      SplittableRandom random = new SplittableRandom(leaves);
      RadixKey[] keys = new RadixKey[MISSING_KEYS];
      Arrays.setAll(
          keys,
          i -> RadixKey.of(random.ints(MISSING_TOKENS, Leaves.IDS, Integer.MAX_VALUE).toArray()));
      int[] next = {0};
      return () -> cache.match(keys[next[0]++ % MISSING_KEYS], Integer.MAX_VALUE);
    }

    /** Evicts one page, and with it a leaf; another is added outside of the time. */
    private Operation evict() {
      Leaves cached = new Leaves(leaves, pageTokens, policy);
      return new Operation() {
        @Override
        public void prepare() {
          cached.add();
        }

        @Override
        public Object run() {
          return cached.cache().evict(1);
        }
      };
    }
  }

  @Benchmark
  public Object run(Measured state) {
    return state.measured.run();
  }
}
