package io.radixflow.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Patience;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.request.Request;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.GrammarSpec.Kind;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.protocol.record.ServiceClass;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GrammarsTest {
  private static final Tokenizer TOKENIZER = SimModel.open(SimOptions.DEFAULT).tokenizer();
  private final Grammars grammars = new Grammars(TOKENIZER, 300, Map.of(), Runnable::run);

  @AfterEach
  void close() {
    grammars.close();
  }

  private void use(String regex) {
    grammars.guide("", new GrammarSpec(Kind.REGEX, regex), null, null, false);
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
    Grammars warm = new Grammars(new Counted(TOKENIZER, asked), 300, Map.of(), Runnable::run);
    warm.warmUp().get(120, TimeUnit.SECONDS);
    int read = asked.get();

    GrammarSpec spec = new GrammarSpec(Kind.REGEX, "a+");
    warm.prepare(warm.guide("", spec, null, null, false));
    warm.prepare(warm.guide("", spec, null, null, true));
    warm.close();

    assertThat(read).isGreaterThanOrEqualTo(TOKENIZER.vocabSize());
    assertThat(asked).hasValue(read);
  }

  @Test
  void closingEndsTheThreadThatWarmsUp() throws Exception {
    Grammars warm = new Grammars(TOKENIZER, 300, Map.of(), Runnable::run);
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
    Grammars small = new Grammars(TOKENIZER, 300, Map.of(), 1, Runnable::run);
    for (String regex : List.of("a", "b", "b", "a")) {
      small.guide("", new GrammarSpec(Kind.REGEX, regex), null, null, false);
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
    grammars.drop("", new GrammarSpec(Kind.REGEX, "a"));
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

  private void useOf(String tenant, String regex) {
    grammars.guide(tenant, new GrammarSpec(Kind.REGEX, regex), null, null, false);
  }

  @Test
  void aRefusedGrammarIsCompiledOnce() {
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> use("(a")).isInstanceOf(GrammarException.class);
    }
    assertThat(grammars.stats().compiled()).isOne();

    grammars.erase();
    assertThatThrownBy(() -> use("(a")).isInstanceOf(GrammarException.class);
    assertThat(grammars.stats().compiled()).isEqualTo(2);
  }

  @Test
  void aTenantThatSendsOtherGrammarsAllTheTimeDropsItsOwn() {
    useOf("patient", "a");
    assertThatThrownBy(() -> useOf("patient", "(a")).isInstanceOf(GrammarException.class);
    for (int i = 0; i < 1100; i++) {
      String refused = "(b" + i;
      assertThatThrownBy(() -> useOf("flood", refused)).isInstanceOf(GrammarException.class);
      if (i < 100) {
        useOf("flood", "b" + i);
      }
    }
    long compiled = grammars.stats().compiled();

    useOf("patient", "a");
    assertThatThrownBy(() -> useOf("patient", "(a")).isInstanceOf(GrammarException.class);
    assertThat(grammars.stats().compiled()).isEqualTo(compiled);
  }

  /** How long a grammar takes would tell a tenant what another one uses. */
  @Test
  void noTenantFindsTheGrammarsOfAnother() {
    useOf("one", "a");
    useOf("other", "a");
    assertThat(grammars.stats().compiled()).isEqualTo(2);
    assertThat(grammars.stats().reused()).isZero();
  }

  @Test
  void aMaskWaitsForTheMasksThatRunWhateverAnotherTenantHasQueued() {
    CountDownLatch busy = new CountDownLatch(Grammars.THREADS);
    Semaphore gate = new Semaphore(0, true);
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    Grammars gated =
        new Grammars(
            TOKENIZER,
            300,
            Map.of(),
            done -> {
              busy.countDown();
              gate.acquireUninterruptibly();
              done.run();
            });
    for (int i = 0; i < 300; i++) {
      advance(gated, "flood", order);
    }
    await(busy);
    advance(gated, "patient", order);
    for (int done = 1; done <= 2 * Grammars.THREADS; done++) {
      gate.release();
      int all = done;
      Patience.await().until(() -> order.size() == all);
    }
    assertThat(order).contains("patient");
    gate.release(300);
    Patience.await().until(() -> order.size() == 301);
    gated.close();
  }

  private static void advance(Grammars grammars, String tenant, List<String> order) {
    EngineRequest spec =
        EngineRequest.builder(tenant, () -> new int[0], 1)
            .service(new ServiceClass(tenant, 0, ""))
            .build();
    Request request = new Request(null, 0, spec, 0, 4, null);
    request.reply.guide(
        grammars.guide(tenant, new GrammarSpec(Kind.REGEX, "a+"), null, null, false));
    grammars.advance(
        request, 0, 0, failure -> order.add(failure == null ? tenant : failure.toString()));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
