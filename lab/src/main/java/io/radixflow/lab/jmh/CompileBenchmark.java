package io.radixflow.lab.jmh;

import io.radixflow.kernels.grammar.Grammar;
import io.radixflow.kernels.grammar.GrammarWarmUp;
import io.radixflow.kernels.grammar.schema.Whitespace;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Compiles the schema of an object with many properties. */
@BenchmarkMode({Mode.SampleTime, Mode.SingleShotTime})
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CompileBenchmark {
  /** The schema's source. */
  @State(Scope.Thread)
  public static class Source {
    @Param("100")
    public int properties;

    /** True if grammars are warmed up first, as an engine does when it opens. */
    @Param("false")
    public boolean warm;

    private String schema;

    @Setup
    public void write() {
      schema = GrammarCases.properties(properties);
      if (warm) {
        GrammarWarmUp.run();
      }
    }
  }

  @Benchmark
  public Grammar compile(Source source) {
    return Grammar.jsonSchema(source.schema, Whitespace.ANY);
  }
}
