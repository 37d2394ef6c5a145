package io.radixflow.operators.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.grammar.GrammarSpec;
import io.radixflow.kernels.grammar.GrammarSpec.Kind;
import io.radixflow.kernels.sim.SimModel;
import io.radixflow.kernels.sim.SimOptions;
import io.radixflow.kernels.text.tokenizer.Tokenizer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GrammarsTest {
  private static final Tokenizer TOKENIZER = SimModel.open(SimOptions.DEFAULT).tokenizer();
  private final Grammars grammars = new Grammars(TOKENIZER, 300, Runnable::run);

  @AfterEach
  void close() {
    grammars.close();
  }

  private void use(String regex) {
    grammars.guide(new GrammarSpec(Kind.REGEX, regex), null, false);
  }

  @Test
  void compiledGrammarsAreKeptAndUsedAgain() {
    use("a");
    use("b");
    use("a");

    assertThat(grammars.stats().compiled()).isEqualTo(2);
    assertThat(grammars.stats().reused()).isOne();
  }

  @Test
  void grammarsBeyondTheMemoryAreDroppedButTheLast() {
    Grammars small = new Grammars(TOKENIZER, 300, 1, Runnable::run);
    for (String regex : List.of("a", "b", "b", "a")) {
      small.guide(new GrammarSpec(Kind.REGEX, regex), null, false);
      assertThat(small.size()).isOne();
    }
    small.close();

    assertThat(small.stats().compiled()).isEqualTo(3);
    assertThat(small.stats().reused()).isOne();
  }

  @Test
  void grammarsThatAreNotUsedForAWhileAreDropped() {
    use("a");
    grammars.expire(System.nanoTime());
    assertThat(grammars.size()).isOne();

    grammars.expire(System.nanoTime() + Grammars.IDLE_NANOS);
    assertThat(grammars.size()).isZero();
  }

  @Test
  void oneGrammarIsDroppedAlone() {
    use("a");
    use("b");
    grammars.drop(new GrammarSpec(Kind.REGEX, "a"));
    use("b");
    assertThat(grammars.size()).isOne();
    assertThat(grammars.stats().reused()).isOne();
  }

  @Test
  void erasingDropsAll() {
    use("a");
    use("b");
    grammars.erase();
    assertThat(grammars.size()).isZero();
  }
}
