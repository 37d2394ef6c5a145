package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.prompt.ThinkingModel;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Turns with a budget of reasoning, of a model whose prompt opens it; a token is a byte. */
@Timeout(180)
class ThinkingBudgetTest {
  private static final String TEMPLATE =
      """
      {%- for m in messages %}
      {{- '<|im_start|>' + m.role + '\\n' + m.content.split('</think>')[-1] + '<|im_end|>\\n' }}
      {%- endfor %}
      {%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n<think>\\n' }}{%- endif %}
      """;

  @TempDir Path directory;

  private final List<ServingEngine> engines = new ArrayList<>();
  private ThinkingModel model;

  @BeforeEach
  void openModel() {
    model = ThinkingModel.open(directory, SimOptions.DEFAULT.withEndOfTurn(0), TEMPLATE);
  }

  @AfterEach
  void closeEngines() {
    engines.forEach(ServingEngine::close);
    model.close();
  }

  /** A ring of four tokens: a mail brings four at most. */
  private ServingHarness harness() throws Exception {
    return harness(ServingOptions.DEFAULT);
  }

  private ServingHarness harness(ServingOptions serving) throws Exception {
    EngineOptions options = EngineOptions.builder().ringTokens(4).build();
    TestEngineFactory factory =
        TestEngineFactory.of(
            "budget",
            () -> {
              ServingEngine engine =
                  new ServingEngine(
                      ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, options), model);
              engines.add(engine);
              return engine;
            });
    return new ServingHarness(factory, serving, 1, 0);
  }

  private static GenerationOptions budget(Integer tokens) {
    return GenerationOptions.builder().maxTokens(60).seed(5L).thinkingTokenBudget(tokens).build();
  }

  @Test
  void theReplyHasAsMuchReasoningAsItsBudgetAfterEachRestoreToo() throws Exception {
    List<OperatorSubtaskState> states = new ArrayList<>();
    Reply undisturbed;
    try (ServingHarness h = harness()) {
      h.open();
      h.send(Events.message("s", "t", "Why?").with(budget(20)));
      while (h.replies().isEmpty()) {
        h.awaitMail();
        if (h.replies().isEmpty()) {
          states.add(h.snapshot());
        }
      }
      undisturbed = h.reply("t");
    }
    assertThat(undisturbed.usage().reasoningTokens()).isBetween(20, 23);
    assertThat(undisturbed.usage().completionTokens()).isEqualTo(60);
    assertThat(undisturbed.reasoning()).isNotEmpty();
    assertThat(undisturbed.text()).isNotEmpty().doesNotContain("think>");
    assertThat(states).hasSizeGreaterThan(5);
    for (OperatorSubtaskState state : states) {
      try (ServingHarness h = harness()) {
        h.setProcessingTime(2_000);
        h.restore(state, 1);
        h.endInput(1);
        assertThat(h.reply("t"))
            .usingRecursiveComparison()
            .ignoringFields("attempt", "created", "cachedTokens")
            .isEqualTo(undisturbed);
      }
    }
  }

  private static Reply.TurnState state(ServingHarness h, String session) throws Exception {
    String id = "q" + h.replies().size();
    int before = h.replies().size();
    h.send(Events.of(EventKind.QUERY, session, id).at("t"));
    while (h.replies().size() == before) {
      h.awaitMail();
    }
    return h.reply(id).turnState();
  }

  @Test
  void afterARestoreAQueryShowsThePartsOfATurnThatDidNotGoOnYet() throws Exception {
    OperatorSubtaskState saved;
    try (ServingHarness h = harness(Options.with(o -> o.maxRunning = 2))) {
      h.open();
      GenerationOptions options = budget(10).toBuilder().maxTokens(2_000).build();
      h.send(Events.message("a", "t", "Why?").with(options));
      h.send(Events.message("b", "t", "Why not?").with(options));
      while (h.deltas().stream()
              .filter(delta -> delta.kind() == null && !delta.text().isEmpty())
              .map(ReplyDelta::session)
              .distinct()
              .count()
          < 2) {
        h.awaitMail();
      }
      saved = h.snapshot();
    }
    try (ServingHarness h = harness(Options.with(o -> o.maxRunning = 1))) {
      h.setProcessingTime(2_000);
      h.restore(saved, 1);
      for (String session : List.of("a", "b")) {
        Reply.TurnState state = state(h, session);
        assertThat(state.status()).isEqualTo("running");
        assertThat(state.reasoning()).isNotEmpty();
        assertThat(state.text()).isNotEmpty().doesNotContain("think>");
      }
    }
  }

  @Test
  void aBudgetOfNoneLeavesNoReasoning() throws Exception {
    try (ServingHarness h = harness()) {
      h.open();
      h.send(Events.message("s", "t", "Why?").with(budget(0)));
      h.send(Events.message("s", "u", "Why not?").with(budget(null)));
      while (h.replies().size() < 2) {
        h.awaitMail();
      }
      assertThat(h.reply("t").usage().reasoningTokens()).isZero();
      assertThat(h.reply("t").reasoning()).isNull();
      assertThat(h.reply("u").usage().reasoningTokens()).isEqualTo(60);
      assertThat(h.reply("u").text()).isEmpty();
    }
  }
}
