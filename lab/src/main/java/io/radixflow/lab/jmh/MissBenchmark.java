package io.radixflow.lab.jmh;

import io.radixflow.operators.cache.PrefixMatch;
import io.radixflow.operators.cache.key.RadixKey;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Looks for prompts of 512 tokens of which nothing is cached. */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MissBenchmark {
  private static final int KEYS = 1024;
  private static final int TOKENS = 512;

  /** Keys that the leaves do not begin with. */
  @State(Scope.Thread)
  public static class Strange extends CacheState {
    @Param("1000")
    public int leaves;

    private Leaves cached;
    private RadixKey[] keys;
    private int next;

    @Setup
    public void fill() {
      cached = new Leaves(leaves, pageTokens, policy);
      SplittableRandom random = new SplittableRandom(leaves);
      keys = new RadixKey[KEYS];
      for (int i = 0; i < KEYS; i++) {
        keys[i] = RadixKey.of(random.ints(TOKENS, Leaves.IDS, Integer.MAX_VALUE).toArray());
      }
    }
  }

  @Benchmark
  public PrefixMatch miss(Strange state) {
    return state.cached.cache().match(state.keys[state.next++ % KEYS], Integer.MAX_VALUE);
  }
}
