package io.radixflow.lab.jmh;

import io.radixflow.kernels.grammar.Grammar;
import io.radixflow.kernels.grammar.GrammarMatcher;
import io.radixflow.kernels.grammar.TokenTrie;
import io.radixflow.kernels.grammar.schema.Whitespace;
import io.radixflow.lab.jmh.GrammarCases.Case;
import java.util.List;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Documents that are followed token by token, each with its schema compiled again. */
@State(Scope.Thread)
public class GrammarBenchState {
  /** Name of the only case, or empty for all in turn. */
  @Param("")
  public String only;

  /** Made once in a process. */
  private static final class Shared {
    static final List<byte[]> VOCABULARY = SyntheticVocabulary.tokens();
    static final List<Case> CASES = GrammarCases.all(VOCABULARY);
    static final TokenTrie TRIE = TokenTrie.of(VOCABULARY, SyntheticVocabulary.END);

    private Shared() {}
  }

  private List<Case> cases;
  private int next;
  private Case document;
  private int at;
  GrammarMatcher matcher;
  long[] mask;

  @Setup
  public void fill() {
    cases =
        Shared.CASES.stream().filter(each -> only.isEmpty() || each.name().equals(only)).toList();
    mask = new long[(SyntheticVocabulary.SIZE + 63) / 64];
  }

  @Setup(Level.Invocation)
  public void advance() {
    if (document == null || at == document.ids().length) {
      document = cases.get(next++ % cases.size());
      matcher = Grammar.jsonSchema(document.schema(), Whitespace.ANY).matcher(Shared.TRIE);
      at = 0;
    }
  }

  int token() {
    return document.ids()[at++];
  }
}
