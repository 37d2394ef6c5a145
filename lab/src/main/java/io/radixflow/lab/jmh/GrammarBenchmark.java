package io.radixflow.lab.jmh;

import io.radixflow.grammar.Grammar;
import io.radixflow.grammar.GrammarMatcher;
import io.radixflow.grammar.GrammarWarmUp;
import io.radixflow.grammar.TokenTrie;
import io.radixflow.grammar.schema.Whitespace;
import java.util.List;
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

/** Makes masks of documents' tokens, and compiles a schema of many properties. */
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class GrammarBenchmark {
  /** Documents that are followed token by token, each with its schema compiled again. */
  @State(Scope.Thread)
  public static class Documents {
    /** Name of the only case, or empty for all in turn. */
    @Param("")
    public String only;

    private final List<byte[]> vocabulary = SyntheticVocabulary.tokens();
    private final TokenTrie trie = TokenTrie.of(vocabulary, SyntheticVocabulary.END);
    private final long[] mask = new long[(SyntheticVocabulary.SIZE + 63) / 64];
    private List<GrammarCase> cases;
    private int next;
    private GrammarCase document;
    private int at;
    private GrammarMatcher matcher;

    @Setup
    public void fill() {
      cases =
          GrammarCase.all(vocabulary).stream()
              .filter(each -> only.isEmpty() || each.name().equals(only))
              .toList();
    }

    @Setup(Level.Invocation)
    public void advance() {
      if (document == null || at == document.ids().length) {
        document = cases.get(next++ % cases.size());
        matcher = Grammar.jsonSchema(document.schema(), Whitespace.ANY).matcher(trie);
        at = 0;
      }
    }
  }

  /** Makes the mask of a document's next token, and takes the token. */
  @Benchmark
  @BenchmarkMode(Mode.SampleTime)
  public long[] mask(Documents state) {
    state.matcher.mask(state.mask);
    int token = state.document.ids()[state.at++];
    if (!state.matcher.acceptToken(token)) {
      throw new IllegalStateException("the grammar does not allow token " + token);
    }
    return state.mask;
  }

  /** The schema of an object with 100 properties. */
  @State(Scope.Thread)
  public static class Source {
    /** True if grammars are warmed up first, as an engine does when it opens. */
    @Param("false")
    public boolean warm;

    private final String schema = GrammarCase.all(List.of()).get(0).schema();

    @Setup
    public void warmUp() {
      if (warm) {
        GrammarWarmUp.run();
      }
    }
  }

  @Benchmark
  @BenchmarkMode({Mode.SampleTime, Mode.SingleShotTime})
  public Grammar compile(Source source) {
    return Grammar.jsonSchema(source.schema, Whitespace.ANY);
  }
}
