package io.radixflow.operators.flink.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ReplyReader;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * One reply, a checkpoint after each of its mails, and each checkpoint restored: every attempt ends
 * with the reply of the undisturbed run, and its deltas join those before the checkpoint.
 */
@Timeout(180)
class MidReplyRestoreTest {
  private static final String TURN = "t1";
  private static final String SESSION = "s";

  private static final String CALLS =
      "call warmth {\"at\": \"Ulm \u00e9\"}\ncall now {\"zone\": [1, {\"x\": null}]}";
  private static final String TOOLS =
      "[{\"type\":\"function\",\"function\":{\"name\":\"warmth\"}},"
          + "{\"type\":\"function\",\"function\":{\"name\":\"now\"}}]";

  private static final String SCHEMA =
      "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"maxLength\":12},"
          + "\"n\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":5000}},"
          + "\"required\":[\"name\",\"n\"],\"additionalProperties\":false}";
  private static final String FORMAT =
      "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":" + SCHEMA + "}}";
  private static final String STRICT_TOOLS =
      "[{\"type\":\"function\",\"function\":{\"name\":\"put\",\"parameters\":" + SCHEMA + "}}]";

  /** A ring of four tokens: a mail brings four at most. */
  private static final EngineOptions ENGINE = EngineOptions.builder().ringTokens(4).build();

  private final List<ServingEngine> engines = new ArrayList<>();

  /** No job ends here that would release them. */
  @AfterEach
  void closeEngines() {
    engines.forEach(ServingEngine::close);
  }

  /** A checkpoint and what had been emitted before it. */
  private record Cut(OperatorSubtaskState state, List<ReplyDelta> deltas) {}

  @ParameterizedTest
  @CsvSource({
    "greedy,1,false",
    "greedy,2,true",
    "seeded,2,false",
    "penalised,3,false",
    "stopped,2,false",
    "bytes,2,false",
    "calls,2,false",
    "calls,1,true",
    "structured,2,false",
    "required,2,false"
  })
  void everyCheckpointLeadsToTheSameReply(String kind, int parallelism, boolean rocksDb)
      throws Exception {
    GenerationOptions options = options(kind);
    List<Cut> cuts = new ArrayList<>();
    Reply undisturbed;
    try (ServingHarness h = harness(1, 0, rocksDb)) {
      h.open();
      String text = kind.equals("calls") ? CALLS : "text of " + TURN;
      h.send(Events.message(SESSION, TURN, text).with(options));
      while (h.replies().isEmpty()) {
        h.awaitMail();
        if (h.replies().isEmpty()) {
          cuts.add(new Cut(h.snapshot(), List.copyOf(h.deltas())));
        }
      }
      undisturbed = h.reply(TURN);
      assertThat(texts(h.deltas())).containsExactly(said(undisturbed));
      int calls = kind.equals("calls") ? 2 : kind.equals("required") ? 1 : 0;
      assertThat(undisturbed.toolCalls()).hasSize(calls);
    }
    assertThat(cuts).hasSizeGreaterThan(8);
    for (int i = 0; i < cuts.size(); i++) {
      Cut cut = cuts.get(i);
      List<ReplyDelta> seen = new ArrayList<>(cut.deltas());
      Reply reply = finish(cut.state(), parallelism, rocksDb, 2_000 + i, seen);
      assertThat(reply)
          .as("restored from checkpoint %d of %d", i + 1, cuts.size())
          .usingRecursiveComparison()
          .ignoringFields("attempt", "created", "cachedTokens")
          .isEqualTo(undisturbed);
      assertThat(texts(seen)).containsExactly(said(undisturbed));
      assertThat(seen).allSatisfy(delta -> assertThat(isPartOf(undisturbed, delta)).isTrue());
      assertThat(logprobs(seen)).isEqualTo(logprobsOf(undisturbed));
      assertThat(new ReplyReader().read(seen).tokens(SESSION + "/" + TURN))
          .isEqualTo(undisturbed.usage().completionTokens());
    }
  }

  /** All texts of a reply, as deltas have them. */
  private static String said(Reply reply) {
    return reply.text()
        + reply.toolCalls().stream()
            .map(call -> call.name() + call.arguments())
            .collect(Collectors.joining());
  }

  /** Returns whether a delta names a call as the reply does. */
  private static boolean isPartOf(Reply reply, ReplyDelta delta) {
    return delta.kind() == null
        ? delta.id() == null
        : reply.toolCalls().get(delta.index()).id().equals(delta.id());
  }

  private static List<String> texts(List<ReplyDelta> deltas) {
    return List.copyOf(new ReplyReader().read(deltas).texts().values());
  }

  /** Joins the log probabilities of deltas by their tokens' offsets; what overlaps must agree. */
  private static Map<Integer, Reply.TokenLogprob> logprobs(List<ReplyDelta> deltas) {
    Map<Integer, Reply.TokenLogprob> joined = new TreeMap<>();
    for (ReplyDelta delta : deltas) {
      if (delta.logprobs() != null) {
        assertThat(delta.logprobs()).hasSize(delta.tokens());
        for (int i = 0; i < delta.tokens(); i++) {
          Reply.TokenLogprob entry = delta.logprobs().get(i);
          Reply.TokenLogprob before = joined.put(delta.tokenOffset() + i, entry);
          assertThat(before).isIn(null, entry);
        }
      }
    }
    return joined;
  }

  private static Map<Integer, Reply.TokenLogprob> logprobsOf(Reply reply) {
    Map<Integer, Reply.TokenLogprob> entries = new TreeMap<>();
    if (reply.logprobs() != null) {
      reply.logprobs().forEach(entry -> entries.put(entries.size(), entry));
    }
    return entries;
  }

  private Reply finish(
      OperatorSubtaskState state, int parallelism, boolean rocksDb, long now, List<ReplyDelta> seen)
      throws Exception {
    List<Reply> replies = new ArrayList<>();
    for (int subtask = 0; subtask < parallelism; subtask++) {
      try (ServingHarness h = harness(parallelism, subtask, rocksDb)) {
        h.setProcessingTime(now);
        h.restore(state, 1);
        h.endInput(1);
        replies.addAll(h.replies());
        seen.addAll(h.deltas());
      }
    }
    assertThat(replies).hasSize(1);
    return replies.get(0);
  }

  private ServingHarness harness(int parallelism, int subtask, boolean rocksDb) throws Exception {
    SimModel model =
        SimModel.open(SimOptions.DEFAULT.withEndOfTurn(0).withPoison(true).withCalls(true));
    TestEngineFactory factory =
        TestEngineFactory.of(
            "mid-reply",
            () -> {
              ServingEngine engine =
                  new ServingEngine(
                      ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, ENGINE), model);
              engines.add(engine);
              return engine;
            });
    return new ServingHarness(factory, ServingOptions.DEFAULT, parallelism, subtask)
        .setBackend(rocksDb);
  }

  private GenerationOptions options(String kind) throws Exception {
    return switch (kind) {
      case "greedy" -> options(0.0, null, null, null, null);
      case "seeded" -> options(1.0, null, null, null, 17L);
      case "penalised" -> options(0.9, 1.3, null, null, 17L);
      case "stopped" ->
          options(0.0, null, null, List.of(textAt(36, 47) + "!", textAt(44, 55)), null);
      case "calls" ->
          GenerationOptions.builder().temperature(0.0).maxTokens(300).tools(TOOLS).build();
      case "structured" ->
          GenerationOptions.builder().maxTokens(300).seed(5L).responseFormat(FORMAT).build();
      case "required" ->
          GenerationOptions.builder()
              .maxTokens(300)
              .seed(5L)
              .tools(STRICT_TOOLS)
              .toolChoice("required")
              .parallelToolCalls(false)
              .build();
      case "bytes" -> options(1.0, null, byteSoup(), List.of("€é"), 3L);
      default -> throw new IllegalArgumentException(kind);
    };
  }

  private static GenerationOptions options(
      Double temperature,
      Double repetitionPenalty,
      Map<Integer, Double> logitBias,
      List<String> stop,
      Long seed) {
    boolean logprobs = repetitionPenalty != null;
    return GenerationOptions.builder()
        .temperature(temperature)
        .repetitionPenalty(repetitionPenalty)
        .presencePenalty(logprobs ? 0.3 : null)
        .frequencyPenalty(logprobs ? 0.2 : null)
        .logitBias(logitBias)
        .maxTokens(60)
        .stop(stop)
        .seed(seed)
        .logprobs(logprobs)
        .topLogprobs(logprobs ? 2 : null)
        .build();
  }

  /** A piece of the greedy reply. */
  private String textAt(int from, int to) throws Exception {
    try (ServingHarness h = harness(1, 0, false)) {
      h.open();
      h.send(Events.message(SESSION, TURN).with(options("greedy")));
      h.endInput(1);
      return h.reply(TURN).text().substring(from, to);
    }
  }

  /** Bytes that make whole characters only by chance. */
  private static Map<Integer, Double> byteSoup() {
    Map<Integer, Double> bias = new HashMap<>();
    for (int value : new int[] {0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0x80}) {
      bias.put(value, 65.0);
    }
    return bias;
  }
}
