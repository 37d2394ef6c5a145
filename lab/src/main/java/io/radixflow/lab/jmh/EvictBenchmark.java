package io.radixflow.lab.jmh;

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

/** Evicts one page, and with it a leaf; another is added outside of the time. */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EvictBenchmark {

  /** A full pool. */
  @State(Scope.Thread)
  public static class Full extends CacheState {
    @Param({"1000", "50000", "1000000"})
    public int leaves;

    private Leaves cached;

    @Setup
    public void fill() {
      cached = new Leaves(leaves, pageTokens, policy);
    }

    @Setup(Level.Invocation)
    public void refill() {
      cached.add();
    }
  }

  @Benchmark
  public int evict(Full state) {
    return state.cached.cache().evict(1);
  }
}
