package io.radixflow.engine.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineClient.Seen;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineRequestBuilder;
import io.radixflow.engine.Engines;
import io.radixflow.engine.draft.SpeculationOptions;
import io.radixflow.engine.draft.SpeculationOptions.Mode;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.GrammarSpec.Kind;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.TokenOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Options that act on single tokens of a reply. */
@Timeout(180)
class TokenOptionsOnEngineTest {
  private static final int END = 257;
  private static final List<Integer> LETTERS =
      "abcdefghijklmnopqrstuvwxyz .".chars().boxed().toList();

  private static Engine engine;
  private static EngineClient client;

  @BeforeAll
  static void open() {
    engine = Engines.open(EngineOptions.builder());
    client = new EngineClient(engine);
  }

  @AfterAll
  static void close() {
    client.close();
    engine.close();
  }

  /** Returns options of names and values, as events have them. */
  static TokenOptions options(Object... given) {
    Integer min = null;
    List<Integer> stops = null;
    Boolean include = null;
    List<String> bad = null;
    List<Integer> allowed = null;
    Boolean skip = null;
    Integer prompt = null;
    Boolean progress = null;
    for (int i = 0; i < given.length; i += 2) {
      Object value = given[i + 1];
      switch ((String) given[i]) {
        case "min_tokens" -> min = (Integer) value;
        case "stop_token_ids" -> stops = List.of((Integer) value);
        case "include" -> include = (Boolean) value;
        case "bad_words" -> bad = Arrays.asList(((String) value).split(","));
        case "allowed_token_ids" -> allowed = List.of((Integer) value);
        case "letters" -> allowed = LETTERS;
        case "skip_special_tokens" -> skip = (Boolean) value;
        case "prompt_logprobs" -> prompt = (Integer) value;
        case "return_progress" -> progress = (Boolean) value;
        default -> throw new IllegalArgumentException((String) given[i]);
      }
    }
    return new TokenOptions(
        min, stops, include, bad, allowed, skip, null, null, prompt, null, null, progress);
  }

  private static EngineRequestBuilder request(int seed, TokenOptions options) {
    return EngineRequest.builder("r" + seed, () -> EngineClient.prompt(seed, 20), 60)
        .sampling(new SamplingParams(1f, 0, 1f, 0f, 1.1f, 0f, 0.1f, Map.of(), seed, 2))
        .tokens(options);
  }

  /** Returns a reply that ends with a stop token, or with its turn. */
  private static Seen reply(int seed, Object... options) {
    return client.run(request(seed, options(options)).build());
  }

  private static Seen reply(List<String> stop, Object... options) {
    return client.run(request(1, options(options)).stop(stop).build());
  }

  @Test
  void aStopTokenEndsTheReplyAndIsNotShownUnlessAsked() {
    Seen free = reply(1, "min_tokens", 30);
    int stop = free.tokens.get(4);
    int at = free.tokens.indexOf(stop);
    String text = free.text.substring(0, at);

    Seen ended = reply(1, "min_tokens", 0, "stop_token_ids", stop);
    assertThat(ended.finish).isEqualTo(FinishReason.STOP);
    assertThat(ended.tokens).hasSize(at + 1).endsWith(stop);
    assertThat(ended.text.toString()).isEqualTo(text);
    assertThat(ended.stopToken).isEqualTo(stop);
    Seen shown = reply(1, "stop_token_ids", stop, "include", true);
    assertThat(shown.text.toString()).isEqualTo(text + (char) stop);
    assertThat(shown.stopToken).isEqualTo(stop);
  }

  @Test
  void aStopTokenEndsAReplyThatGoesOnPastTheEndOfItsTurn() {
    int stop = 'e';
    Seen seen =
        client.run(request(2, options("stop_token_ids", stop)).ignoreEndOfTurn(true).build());
    assertThat(seen.finish).isEqualTo(FinishReason.STOP);
    assertThat(seen.tokens).endsWith(stop);
    assertThat(seen.tokens.indexOf(stop)).isEqualTo(seen.tokens.size() - 1);
  }

  @Test
  void aStopStringIsShownIfAsked() {
    Seen free = reply(List.of());
    String stop = free.text.substring(3, 6);
    int at = free.text.indexOf(stop);
    assertThat(reply(List.of(stop)).text.toString()).isEqualTo(free.text.substring(0, at));
    assertThat(reply(List.of(stop), "include", true).text.toString())
        .isEqualTo(free.text.substring(0, at + 3));
  }

  @Test
  void nothingEndsAReplyBeforeItsLeastLength() {
    for (int seed = 0; seed < 20; seed++) {
      Seen seen = reply(seed, "min_tokens", 25, "stop_token_ids", (int) 'a');
      assertThat(seen.tokens).hasSizeGreaterThan(25);
      assertThat(seen.tokens.subList(0, 25)).doesNotContain(END, (int) 'a');
      assertThat(seen.finish == FinishReason.LENGTH).isEqualTo(seen.tokens.size() == 60);
    }
    Seen stopped = reply(List.of("a", "e", "i", "o", "u"), "min_tokens", 10);
    assertThat(stopped.finish).isEqualTo(FinishReason.STOP);
    assertThat(stopped.tokens).hasSizeGreaterThan(10);
    assertThat(stopped.text.length()).isGreaterThanOrEqualTo(10);
  }

  @Test
  void onlyAllowedTokensComeAndNoBadWords() {
    for (int seed = 0; seed < 20; seed++) {
      Seen seen = reply(seed, "letters", true, "bad_words", "e,an,the, is,lo");
      assertThat(seen.text.toString())
          .matches("[a-z .]*")
          .doesNotContain("e", "an", "the", "is", "lo");
      assertThat(seen.finish).as("no end of turn is allowed").isEqualTo(FinishReason.LENGTH);
    }
  }

  @Test
  void aGrammarAndTheRulesHoldBoth() {
    GrammarSpec words = new GrammarSpec(Kind.REGEX, "[a-f]{1,12}");
    for (int seed = 0; seed < 10; seed++) {
      Seen seen =
          client.run(
              request(seed, options("min_tokens", 5, "bad_words", "a,bc,fd"))
                  .grammar(prompt -> words)
                  .build());
      assertThat(seen.text.toString()).matches("[b-f]{5,12}").doesNotContain("bc", "fd");
    }
  }

  @Test
  void rulesThatLeaveNoTokenAreSaid() {
    assertThat(reply(1, "allowed_token_ids", (int) 'a', "bad_words", "a").error)
        .contains("leave no token");
    assertThat(reply(1, "allowed_token_ids", END, "min_tokens", 3).error)
        .contains("min_tokens is 3");
    assertThat(reply(1, "allowed_token_ids", 5000).error)
        .isEqualTo("allowed_token_ids has 5000; the vocabulary has ids 0 to 259");
    assertThat(reply(1, "stop_token_ids", -1).finish).isEqualTo(FinishReason.REJECTED);
    Seen early =
        client.run(
            request(1, options("bad_words", "a"))
                .grammar(prompt -> new GrammarSpec(Kind.REGEX, "a"))
                .build());
    assertThat(early.finish).isEqualTo(FinishReason.REJECTED);
    Seen late =
        client.run(
            request(1, options("min_tokens", 9))
                .grammar(prompt -> new GrammarSpec(Kind.REGEX, "abc"))
                .build());
    assertThat(late.finish).isEqualTo(FinishReason.ERROR);
    assertThat(late.error).contains("min_tokens, allowed_token_ids and bad_words leave no token");
    Seen sequence = reply(1, "allowed_token_ids", (int) 'a', "bad_words", "aaa");
    assertThat(sequence.text.toString()).isEqualTo("aa");
    assertThat(sequence.finish).isEqualTo(FinishReason.ERROR);
  }

  @Test
  void specialTokensHaveTheirTextIfAsked() {
    Seen seen = reply(1, "allowed_token_ids", 259, "skip_special_tokens", false);
    assertThat(seen.text.toString()).startsWith("<|pad|><|pad|>");
    assertThat(reply(1, "allowed_token_ids", 259).text.toString()).isEmpty();
    Seen end = reply(1, "allowed_token_ids", END, "skip_special_tokens", false);
    assertThat(end.text.toString()).as("the end is not shown").isEmpty();
  }

  @Test
  void repliesAreTheSameWithDraftsAndStepsAheadAndFromEachOfTheirTokens() {
    List<EngineRequestBuilder> requests = new ArrayList<>();
    GrammarSpec words = new GrammarSpec(Kind.REGEX, "([a-z]{2,4} ){2,6}end");
    Object[][] all = {
      {"min_tokens", 20},
      {"letters", true},
      {"bad_words", "a,e"},
      {"bad_words", "an,ing,o ,re", "min_tokens", 9},
      {"stop_token_ids", (int) 'u', "min_tokens", 12},
      {"letters", true, "bad_words", "ab,i", "stop_token_ids", (int) '.', "min_tokens", 4},
    };
    for (int i = 0; i < 2 * all.length; i++) {
      EngineRequestBuilder request = request(i, options(all[i % all.length]));
      requests.add(i < all.length ? request : request.grammar(prompt -> words));
    }
    List<Seen> alone = new ArrayList<>();
    EngineOptions plain = EngineOptions.builder().speculation(SpeculationOptions.OFF).build();
    try (Engine one = Engines.open(SimOptions.DEFAULT, plain);
        EngineClient reader = new EngineClient(one)) {
      requests.forEach(request -> alone.add(reader.run(request.build())));
    }
    EngineOptions drafting =
        EngineOptions.builder()
            .speculation(new SpeculationOptions(Mode.ALWAYS, 8))
            .auditMillis(0)
            .build();
    try (Engine other =
            Engines.open(SimOptions.DEFAULT.withPipelineDepth(2).withPoison(true), drafting);
        EngineClient reader = new EngineClient(other)) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < requests.size(); i++) {
        int[] reply = alone.get(i).ids();
        ids.add(reader.submit(requests.get(i).prediction(() -> reply).build()));
      }
      for (int i = 0; i < requests.size(); i++) {
        Seen seen = reader.await(ids.get(i));
        assertThat(seen.tokens).as("request %s", i).isEqualTo(alone.get(i).tokens);
        assertThat(seen.text.toString()).isEqualTo(alone.get(i).text.toString());
        assertThat(seen.finish).isEqualTo(alone.get(i).finish);
        assertThat(seen.stopToken).isEqualTo(alone.get(i).stopToken);
      }
      assertThat(Engines.awaitIdle(other).drafts().accepted()).isPositive();
      for (int i = 0; i < requests.size(); i++) {
        int[] whole = alone.get(i).ids();
        for (int cut = 0; cut <= whole.length; cut += 3) {
          int[] first = Arrays.copyOf(whole, cut);
          Seen rest = reader.run(requests.get(i).resumed(first).build());
          assertThat(Engines.concat(first, rest.ids())).isEqualTo(whole);
          boolean stuck = alone.get(i).finish == FinishReason.ERROR && cut == whole.length;
          assertThat(rest.finish).isEqualTo(stuck ? FinishReason.REJECTED : alone.get(i).finish);
        }
      }
    }
  }

  @Test
  void eachStepOfAPromptIsProgressIfAsked() {
    Semaphore allowed = new Semaphore(0);
    SimOptions stepped =
        SimOptions.DEFAULT
            .withPipelineDepth(1)
            .withFault(batch -> allowed.acquireUninterruptibly());
    try (Engine slow = Engines.open(stepped, EngineOptions.builder().prefillChunk(8).build());
        EngineClient other = new EngineClient(slow)) {
      long id = other.submit(request(1, options("return_progress", true)).build());
      for (int done = 8; done < 20; done += 8) {
        allowed.release();
        other.awaitPromptDone(id, done);
        assertThat(other.seen(id).tokens).isEmpty();
      }
      allowed.release(1000);
      assertThat(other.await(id).usage.promptTokens()).isEqualTo(20);
      assertThat(other.run(request(2, options("return_progress", false)).build()).promptDone)
          .isEqualTo(-1);
    }
  }
}
