package io.radixflow.lab.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/** Makes the mask of a document's next token, and takes the token. */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MaskBenchmark {
  @Benchmark
  public long[] mask(GrammarBenchState state) {
    state.matcher.mask(state.mask);
    int token = state.token();
    if (!state.matcher.acceptToken(token)) {
      throw new IllegalStateException("the grammar does not allow token " + token);
    }
    return state.mask;
  }
}
