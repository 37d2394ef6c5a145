package io.radixflow.operators.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.grammar.GrammarSpec;
import io.radixflow.kernels.grammar.GrammarSpec.Kind;
import io.radixflow.kernels.sim.SimModel;
import io.radixflow.kernels.sim.SimOptions;
import io.radixflow.kernels.text.tokenizer.Tokenizer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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

  /** Counts the tokens whose bytes are asked for. */
  private record Counted(Tokenizer tokenizer, AtomicInteger asked) implements Tokenizer {
    @Override
    public int vocabSize() {
      return tokenizer.vocabSize();
    }

    @Override
    public int[] encode(CharSequence text) {
      return tokenizer.encode(text);
    }

    @Override
    public int[] encodeWithSpecial(CharSequence text) {
      return tokenizer.encodeWithSpecial(text);
    }

    @Override
    public byte[] bytes(int id) {
      asked.incrementAndGet();
      return tokenizer.bytes(id);
    }

    @Override
    public int[] endOfTurnIds() {
      return tokenizer.endOfTurnIds();
    }

    @Override
    public Map<Integer, String> markup() {
      return tokenizer.markup();
    }

    @Override
    public String fingerprint() {
      return tokenizer.fingerprint();
    }
  }

  @Test
  void theVocabularyIsReadWhenItIsWarmedUpAndNotAgain() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    Grammars warm = new Grammars(new Counted(TOKENIZER, asked), 300, Runnable::run);
    warm.warmUp().get(120, TimeUnit.SECONDS);
    int read = asked.get();

    GrammarSpec spec = new GrammarSpec(Kind.REGEX, "a+");
    warm.prepare(warm.guide(spec, null, false));
    warm.prepare(warm.guide(spec, null, true));
    warm.close();

    assertThat(read).isGreaterThanOrEqualTo(TOKENIZER.vocabSize());
    assertThat(asked).hasValue(read);
  }

  @Test
  void closingEndsTheThreadThatWarmsUp() throws Exception {
    Grammars warm = new Grammars(TOKENIZER, 300, Runnable::run);
    warm.warmUp();
    warm.close();

    assertThat(warm.awaitTermination(120)).isTrue();
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
