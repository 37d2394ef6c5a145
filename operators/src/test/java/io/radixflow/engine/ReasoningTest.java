package io.radixflow.engine;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.operators.prompt.CanonicalReply;
import io.radixflow.operators.prompt.NextPrompts;
import io.radixflow.operators.prompt.PromptAssembly;
import io.radixflow.operators.prompt.ReplyParts;
import io.radixflow.operators.prompt.ReplyReading;
import io.radixflow.operators.prompt.ThinkingModel;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnOptions;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.text.template.Message;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is kept of a reply whose thinking the next prompt leaves out. Pages have 16 tokens; the
 * thinking is handed in as what an earlier attempt had generated.
 */
@Timeout(180)
class ReasoningTest {
  private static final String THINKING = "<think>\n" + "hm, let me see. ".repeat(20) + "</think>\n";
  private static final List<Message> QUESTION =
      List.of(new Message("user", "What is " + "so very ".repeat(9) + "good?"));
  private static final List<Message> THANKS = List.of(new Message("user", "Thank you."));

  @TempDir Path directory;

  /** Each step that computes ahead, but for the last of a prefix, takes one. */
  private final Semaphore stepsAhead = new Semaphore(1_000_000);

  private volatile boolean failing;
  private CacheHints hints = CacheHints.NONE;
  private ThinkingModel model;

  private Engine open(SimOptions sim, boolean whenIdle) {
    SimOptions options = sim.withPoison(true).withEndOfTurn(0).withFault(this::beforeStep);
    model = ThinkingModel.open(directory, options);
    return ContinuousBatchingEngine.open(
        model,
        DeviceOptions.DEFAULT,
        EngineOptions.builder()
            .cache(CacheOptions.DEFAULT.withPrefillWhenIdle(whenIdle))
            .auditMillis(0)
            .build());
  }

  private void beforeStep(Batch batch) {
    if (batch.rows() == 32 && batch.outputs() == 0) {
      stepsAhead.acquireUninterruptibly();
    }
    if (failing) {
      throw new IllegalStateException("injected");
    }
  }

  /** Lets two steps ahead through and waits for the third one, which waits for the semaphore. */
  private void holdThirdStepAhead(Engine engine) {
    await().until(() -> engine.stats().sessions().tokensAhead() >= 96);
  }

  private PromptAssembly assembly(Conversation before, List<Message> added) {
    return new PromptAssembly(
        model.tokenizer(),
        model.chatTemplate(),
        before,
        added,
        PromptOptions.NONE,
        new PromptAssembly.Window(4096, 1, 1_000, true));
  }

  private EngineRequest turn(PromptAssembly prompt, int[] resumed, int answer) {
    Conversation none = new Conversation(null, 0, List.of());
    return EngineRequest.builder("test", prompt, resumed.length + answer)
        .resumed(resumed)
        .session(
            new SessionRef(
                "",
                "s",
                "main",
                new NextPrompts(new ReplyReading(model))
                    .after(
                        prompt::prompt,
                        none,
                        QUESTION,
                        TurnOptions.resolve(List.of(), 0, 1),
                        made -> ReplyParts.plain())))
        .hints(hints)
        .build();
  }

  /** Runs a first turn with reasoning; returns its reply's ids. */
  private int[] think(EngineClient client, PromptAssembly first, int answer) {
    int[] thought = model.tokenizer().encode(THINKING);
    return concat(thought, client.run(turn(first, thought, answer)).ids());
  }

  /** Returns the second turn's prompt. */
  private PromptAssembly second(PromptAssembly first, int[] reply) {
    StringBuilder text = new StringBuilder();
    Arrays.stream(reply).forEach(id -> text.append((char) id));
    int[] canonical = new CanonicalReply(model).ids(reply, text.toString());
    int[] ids = concat(first.prompt().ids(), canonical);
    Turn turn =
        new Turn(
            1,
            0,
            0,
            "t",
            "t",
            QUESTION,
            null,
            0,
            new Message("assistant", text.toString()),
            "length",
            null,
            0,
            ids,
            model.tokenizer().fingerprint(),
            "",
            0,
            Turn.ROOT,
            null,
            false);
    return assembly(Conversation.of(null, List.of(turn)), THANKS);
  }

  private static int shared(int[] a, int[] b) {
    int at = Arrays.mismatch(a, b);
    return at < 0 ? a.length : at;
  }

  /** Case U7, with the answer computed again at the positions that it has in the next prompt. */
  @Test
  void theNextTurnFindsPromptAndAnswerAndNoPageOfTheReasoningStays() throws Exception {
    try (Engine engine = open(SimOptions.DEFAULT, true);
        EngineClient client = new EngineClient(engine)) {
      PromptAssembly first = assembly(new Conversation(null, 0, List.of()), QUESTION);
      int[] reply = think(client, first, 70);
      PromptAssembly second = second(first, reply);
      int[] ids = second.ids();
      int known = ids.length - "Thank you.|\n|assistant\n".length();
      int answerPages = (known + 15) / 16;
      awaitAhead(engine, known - shared(concat(first.prompt().ids(), reply), ids));
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.pool().evictablePages() + stats.sessions().pages()).isEqualTo(answerPages);

      int[] replay = concat(first.prompt().ids(), reply);
      assertThat(client.run(EngineClient.request(replay, SamplingParams.GREEDY, 1)).usage)
          .satisfies(
              usage -> assertThat(usage.cachedTokens()).isLessThan(first.prompt().ids().length));
      EngineClient.Seen next = client.run(turn(second, new int[0], 40));
      assertThat(next.usage.cachedTokens()).isEqualTo(known);
      assertThat(next.tokens).isEqualTo(alone(ids, 40));
    }
  }

  private List<Integer> alone(int[] prompt, int tokens) {
    EngineOptions plain =
        EngineOptions.builder()
            .cache(CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE))
            .build();
    try (Engine engine = ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, plain);
        EngineClient client = new EngineClient(engine)) {
      return client.run(EngineClient.request(prompt, SamplingParams.GREEDY, tokens)).tokens;
    }
  }

  @Test
  void withoutIdlePrefillThePromptStaysAndTheReplyIsFreed() throws Exception {
    try (Engine engine = open(SimOptions.DEFAULT, false);
        EngineClient client = new EngineClient(engine)) {
      PromptAssembly first = assembly(new Conversation(null, 0, List.of()), QUESTION);
      int[] reply = think(client, first, 70);
      PromptAssembly second = second(first, reply);
      int stays = shared(concat(first.prompt().ids(), reply), second.ids());
      await().until(() -> engine.stats().pool().evictablePages() == stays / 16);
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.pool().freePages()).isEqualTo(stats.pool().totalPages() - stays / 16);
      assertThat(client.run(turn(second, new int[0], 4)).usage.cachedTokens())
          .isEqualTo(stays / 16 * 16);
    }
  }

  @Test
  void aPinKeepsThePagesOfTheNextTurnAndNotThoseOfTheReasoning() throws Exception {
    hints = new CacheHints(false, 600_000, List.of(), null);
    try (Engine engine = open(SimOptions.DEFAULT, true);
        EngineClient client = new EngineClient(engine)) {
      PromptAssembly first = assembly(new Conversation(null, 0, List.of()), QUESTION);
      int[] reply = think(client, first, 70);
      int known = second(first, reply).ids().length - "Thank you.|\n|assistant\n".length();
      await()
          .untilAsserted(
              () -> {
                EngineStats stats = engine.stats();
                assertThat(stats.sessions().pinnedPages()).isEqualTo(known / 16);
                assertThat(stats.pool().protectedPages()).isEqualTo(known / 16);
                assertThat(stats.pool().evictablePages() + stats.pool().inFlightPages()).isZero();
              });
      engine.closeSession("s");
      Engines.awaitEmpty(engine);
    }
  }

  @Test
  void nothingIsComputedAheadForATurnThatIsNotStored() {
    hints = new CacheHints(true, 0, List.of(), null);
    try (Engine engine = open(SimOptions.DEFAULT, true);
        EngineClient client = new EngineClient(engine)) {
      think(client, assembly(new Conversation(null, 0, List.of()), QUESTION), 70);
      Engines.awaitIdle(engine);
      assertThat(Engines.stats(engine).sessions().tokensAhead()).isZero();
      assertThat(Engines.stats(engine).pool().freePages())
          .isEqualTo(Engines.stats(engine).pool().totalPages());
    }
  }

  @Test
  void aReplyWithoutThinkingIsKeptWhole() {
    try (Engine engine = open(SimOptions.DEFAULT, true);
        EngineClient client = new EngineClient(engine)) {
      PromptAssembly first = assembly(new Conversation(null, 0, List.of()), QUESTION);
      EngineClient.Seen seen = client.run(turn(first, new int[0], 70));
      Engines.awaitIdle(engine);
      PromptAssembly second = second(first, seen.ids());
      assertThat(client.run(turn(second, new int[0], 4)).usage.cachedTokens())
          .isEqualTo(first.prompt().ids().length + 70 - 1);
      assertThat(Engines.stats(engine).sessions().tokensAhead()).isZero();
    }
  }

  @Test
  void aRealRequestComesFirstAndTheRestIsComputedAfterwards() throws Exception {
    stepsAhead.drainPermits();
    stepsAhead.release(2);
    try (Engine engine = open(SimOptions.DEFAULT, true);
        EngineClient client = new EngineClient(engine)) {
      PromptAssembly first = assembly(new Conversation(null, 0, List.of()), QUESTION);
      int[] reply = think(client, first, 700);
      holdThirdStepAhead(engine);
      long other;
      try (EngineHold hold = new EngineHold(engine)) {
        other = client.submit(Engines.letters(3, 50), 5);
        stepsAhead.release(1);
        client.awaitAccepted(List.of(other));
      }
      assertThat(client.await(other).finish).isEqualTo(FinishReason.LENGTH);
      assertThat(engine.stats().sessions().tokensAhead()).isLessThanOrEqualTo(128);
      stepsAhead.release(100);
      PromptAssembly second = second(first, reply);
      int[] ids = second.ids();
      int known = ids.length - "Thank you.|\n|assistant\n".length();
      int stays = shared(concat(first.prompt().ids(), reply), ids);
      await().until(() -> engine.stats().sessions().tokensAhead() >= known - stays / 16 * 16);
      Engines.awaitIdle(engine);
      assertThat(client.run(turn(second, new int[0], 4)).usage.cachedTokens()).isEqualTo(known);
    }
  }

  @Test
  void aSessionThatClosesWhileItsNextTurnIsComputedLeavesNothing() {
    stepsAhead.drainPermits();
    stepsAhead.release(2);
    try (Engine engine = open(SimOptions.DEFAULT, true);
        EngineClient client = new EngineClient(engine)) {
      think(client, assembly(new Conversation(null, 0, List.of()), QUESTION), 700);
      holdThirdStepAhead(engine);
      engine.closeSession("s");
      stepsAhead.release(1);
      Engines.awaitEmpty(engine);
    }
  }

  @Test
  void aStepAheadThatFailsIsGivenUp() throws Exception {
    stepsAhead.drainPermits();
    stepsAhead.release(2);
    try (Engine engine = open(SimOptions.DEFAULT, true);
        EngineClient client = new EngineClient(engine)) {
      PromptAssembly first = assembly(new Conversation(null, 0, List.of()), QUESTION);
      int[] reply = think(client, first, 700);
      holdThirdStepAhead(engine);
      failing = true;
      stepsAhead.release(1);
      await().until(() -> engine.stats().steps().failedSteps() == 1);
      failing = false;
      Engines.awaitIdle(engine);
      PromptAssembly second = second(first, reply);
      EngineClient.Seen next = client.run(turn(second, new int[0], 40));
      assertThat(next.tokens).isEqualTo(alone(second.prompt().ids(), 40));
      assertThat(next.usage.cachedTokens()).isPositive();
    }
  }

  private static void awaitAhead(Engine engine, int tokens) {
    await().until(() -> engine.stats().sessions().tokensAhead() >= tokens);
  }
}
