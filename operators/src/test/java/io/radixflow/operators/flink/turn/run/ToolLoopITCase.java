package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.Patience;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.GatedNumbers;
import io.radixflow.operators.flink.ReplyReader;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.TestJob;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.record.control.ControlKind;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Conversations of several rounds with calls of tools, in a job that is rescaled from a savepoint,
 * and fails, within the arguments of a call. The engine is held where a call says {@link #MARK}.
 */
@Timeout(300)
class ToolLoopITCase {
  private static final String NUMBERS = "tool-loop";
  private static final String CONTROLS = "tool-loop-controls";
  private static final int SESSIONS = 4;
  private static final int ROUNDS = 6;
  private static final int CALLS = 0;
  private static final int RESULTS = 1;
  private static final int REQUIRED = 2;
  private static final int STRUCTURED = 4;
  private static final int CUT = 5;

  /** Numbers after the rounds: a cancel, a query behind it, and a last message. */
  private static final int CANCEL = ROUNDS * SESSIONS;

  private static final int QUERY = CANCEL + 1;
  private static final int LAST = CANCEL + 2;
  private static final char MARK = '~';

  private static final String SCHEMA =
      "{\"type\":\"object\",\"properties\":{\"entry\":{\"type\":\"string\","
          + "\"pattern\":\"^[a-z]{3}~[a-z]{30}$\"},\"page\":{\"type\":\"integer\",\"minimum\":1,"
          + "\"maximum\":900}},\"required\":[\"entry\",\"page\"],\"additionalProperties\":false}";
  private static final String TOOLS =
      "[{\"type\":\"function\",\"function\":{\"name\":\"warmth\"}},"
          + "{\"type\":\"function\",\"function\":{\"name\":\"now\"}},"
          + "{\"type\":\"function\",\"function\":{\"name\":\"log\",\"strict\":true,\"parameters\":"
          + SCHEMA
          + "}}]";

  private static final Map<String, Reply> REPLIES = new ConcurrentHashMap<>();
  private static final Queue<ReplyDelta> DELTAS = new ConcurrentLinkedQueue<>();
  private static final AtomicLong CHECKPOINTS = new AtomicLong();
  private static final AtomicBoolean FAILS = new AtomicBoolean();
  private static final Hold HOLD = new Hold();

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJob.cluster();

  @TempDir static Path directory;

  @Test
  void callsGoOnWithTheSameBytesWhereverTheJobStops() throws Exception {
    EngineFactory factory =
        TestEngineFactory.of("tool-loop", () -> engine(SimOptions.DEFAULT.withFault(HOLD::pass)));
    String savepoint = savepointWithinACall(factory);
    JobClient job = job(1).set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint).start(factory);
    awaitRound(CALLS);
    round(RESULTS);
    failWithinACall();
    round(REQUIRED + 1);
    round(STRUCTURED);
    cancelWithinACall();
    GatedNumbers.allow(NUMBERS, 2); // and the end of the source
    GatedNumbers.allow(CONTROLS, 2);
    job.getJobExecutionResult().get(Patience.DURATION.toSeconds(), TimeUnit.SECONDS);

    REPLIES.remove(key(QUERY));
    Map<String, Reply> undisturbed = undisturbed();
    assertThat(REPLIES.keySet()).isEqualTo(undisturbed.keySet());
    String cut = key(CUT * SESSIONS);
    REPLIES.forEach(
        (key, reply) -> {
          if (key.equals(cut)) {
            assertIsCut(reply, undisturbed.get(key));
          } else {
            assertThat(reply)
                .usingRecursiveComparison()
                .ignoringFields("attempt", "created", "usage.cachedTokens")
                .isEqualTo(undisturbed.get(key));
          }
        });
    Map<String, String> heard = new ReplyReader().read(List.copyOf(DELTAS)).texts();
    REPLIES.forEach((key, reply) -> assertThat(heard.get(key)).isEqualTo(said(reply)));
    assertForms();
  }

  /** Stops the first job within the second of two calls; returns where the savepoint is. */
  private static String savepointWithinACall(EngineFactory factory) throws Exception {
    HOLD.arm();
    GatedNumbers.allow(NUMBERS, SESSIONS);
    JobClient job = job(2).start(factory);
    awaitHeldCall(CALLS);
    String savepoint =
        job.triggerSavepoint(directory.toUri().toString(), SavepointFormatType.CANONICAL)
            .get(Patience.DURATION.toSeconds(), TimeUnit.SECONDS);
    job.cancel();
    HOLD.release();
    Patience.await().until(() -> job.getJobStatus().get().isGloballyTerminalState());
    REPLIES.remove(key(CALLS * SESSIONS)); // the first job may have said it after the savepoint
    return savepoint;
  }

  /** Fails a task within a call after a checkpoint that has the call's beginning. */
  private static void failWithinACall() {
    HOLD.arm();
    GatedNumbers.allow(NUMBERS, SESSIONS);
    awaitHeldCall(REQUIRED);
    long complete = CHECKPOINTS.get();
    Patience.await().until(() -> CHECKPOINTS.get() >= complete + 2);
    FAILS.set(true);
    HOLD.release();
    awaitRound(REQUIRED);
    assertThat(FAILS).isFalse();
  }

  /** Cancels a turn within a call; the query behind the cancel shows that the job has taken it. */
  private static void cancelWithinACall() {
    HOLD.arm();
    GatedNumbers.allow(NUMBERS, SESSIONS);
    awaitHeldCall(CUT);
    GatedNumbers.allow(NUMBERS, 2);
    Patience.await().until(() -> REPLIES.containsKey(key(QUERY)));
    HOLD.release();
    awaitRound(CUT);
  }

  private static void round(int round) {
    GatedNumbers.allow(NUMBERS, SESSIONS);
    awaitRound(round);
  }

  private static void awaitRound(int round) {
    for (int i = 0; i < SESSIONS; i++) {
      String key = key(round * SESSIONS + i);
      Patience.await().until(() -> REPLIES.containsKey(key));
    }
  }

  /** Waits until the engine is held, and arguments of a call of the round have been emitted. */
  private static void awaitHeldCall(int round) {
    Patience.await().until(HOLD::holds);
    Patience.await()
        .until(
            () ->
                DELTAS.stream()
                    .anyMatch(
                        delta ->
                            delta.kind() == ReplyDelta.Kind.ARGUMENTS
                                && delta.turn().equals("t" + round)));
  }

  private static void assertIsCut(Reply reply, Reply whole) {
    assertThat(reply.finishReason()).isEqualTo("cancelled");
    assertThat(said(whole)).startsWith(said(reply));
    assertThat(reply.toolCalls()).hasSize(1);
    assertThat(reply.toolCalls().get(0).arguments()).contains("zone");
    assertThat(reply.toolCalls().get(0).id()).isEqualTo(whole.toolCalls().get(0).id());
  }

  private static void assertForms() throws Exception {
    for (int i = 0; i < SESSIONS; i++) {
      assertThat(reply(CALLS, i).toolCalls())
          .extracting(ToolCall::name)
          .containsExactly("warmth", "now");
      assertThat(reply(RESULTS, i).text()).isEqualTo("It is the result of now.");
      assertThat(reply(REQUIRED, i).toolCalls()).extracting(ToolCall::name).containsExactly("log");
      assertMeets(reply(REQUIRED, i).toolCalls().get(0).arguments());
      assertThat(reply(STRUCTURED, i).finishReason()).isEqualTo("stop");
      assertMeets(reply(STRUCTURED, i).text());
    }
  }

  private static void assertMeets(String json) throws Exception {
    ObjectMapper mapper = new ObjectMapper();
    JsonNode value = mapper.readTree(json);
    assertThat(JsonSchemaFactory.getInstance(VersionFlag.V202012).getSchema(SCHEMA).validate(value))
        .as(json)
        .isEmpty();
  }

  private static Reply reply(int round, int session) {
    return REPLIES.get(key(round * SESSIONS + session));
  }

  private static String said(Reply reply) {
    StringBuilder text = new StringBuilder(reply.text());
    reply.toolCalls().forEach(call -> text.append(call.name()).append(call.arguments()));
    return text.toString();
  }

  private static TestJob job(int parallelism) {
    return new TestJob(new GatedNumbers(NUMBERS, LAST + 1), ToolLoopITCase::event)
        .controls(
            new GatedNumbers(CONTROLS, 1), n -> new ControlEvent(ControlKind.DRAIN, null, "off"))
        .set(StateBackendOptions.STATE_BACKEND, "rocksdb")
        .parallelism(parallelism)
        .onReply(
            reply -> {
              REPLIES.put(reply.session() + "/" + reply.turn(), reply);
              return reply.turn();
            })
        .onDelta(new Failing());
  }

  /** A mail brings four tokens at most, so that calls come in many pieces. */
  private static ServingEngine engine(SimOptions options) {
    SimModel model = SimModel.open(options.withCalls(true).withPoison(true));
    EngineOptions small = EngineOptions.builder().ringTokens(4).build();
    return new ServingEngine(
        ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, small), model);
  }

  private static Map<String, Reply> undisturbed() throws Exception {
    try (ServingEngine engine = engine(SimOptions.DEFAULT);
        ServingHarness h =
            new ServingHarness(
                TestEngineFactory.of("undisturbed", () -> engine), ServingOptions.DEFAULT, 1, 0)) {
      h.open();
      for (long n = 0; n <= LAST; n++) {
        if (n != CANCEL && n != QUERY) {
          h.send(event(n));
        }
      }
      h.endInput(1);
      Map<String, Reply> replies = new ConcurrentHashMap<>();
      h.replies().forEach(reply -> replies.put(reply.session() + "/" + reply.turn(), reply));
      return replies;
    }
  }

  private static String key(long n) {
    return event(n, List.of()).session() + "/" + event(n, List.of()).turn();
  }

  private static ConversationEvent event(long n) {
    List<Message> results = new ArrayList<>();
    long calls = n - SESSIONS;
    if (n < CANCEL && calls >= 0 && (n / SESSIONS == RESULTS || n / SESSIONS == REQUIRED + 1)) {
      for (ToolCall call : REPLIES.get(key(calls)).toolCalls()) {
        results.add(
            new Message("tool", "the result of " + call.name(), null, null, call.id(), null));
      }
    }
    return event(n, results);
  }

  private static ConversationEvent event(long n, List<Message> results) {
    if (n == CANCEL) {
      return ConversationEvent.builder(EventKind.CANCEL, "s0", "t" + CUT).build();
    }
    if (n == QUERY) {
      return ConversationEvent.builder(EventKind.QUERY, "s0", "q").atTurn("t0").build();
    }
    int round = (int) n / SESSIONS; // that of the last message is one of its own
    String session = "s" + (n == LAST ? 1 : n % SESSIONS);
    String zone = "{\"zone\": \"%s\"}".formatted(session.equals("s0") ? longZone() : "CET");
    String text =
        switch (round) {
          case CALLS -> "call warmth {\"at\": \"Ulm é\"}\ncall now " + zone;
          case CUT -> "call now " + zone;
          default -> "Go on with " + round + ".";
        };
    return ConversationEvent.builder(EventKind.MESSAGE, session, "t" + round)
        .messages(results.isEmpty() ? List.of(new Message("user", text)) : results)
        .options(options(round, n))
        .build();
  }

  private static String longZone() {
    return "a".repeat(60) + MARK + "b".repeat(60);
  }

  private static GenerationOptions options(int round, long n) {
    GenerationOptions.Builder options = GenerationOptions.builder().maxTokens(400);
    return switch (round) {
      case REQUIRED ->
          options
              .seed(n)
              .tools(TOOLS)
              .toolChoice("{\"type\":\"function\",\"function\":{\"name\":\"log\"}}")
              .parallelToolCalls(false)
              .build();
      case STRUCTURED ->
          options
              .seed(n)
              .responseFormat(
                  "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":" + SCHEMA + "}}")
              .build();
      default -> options.temperature(0.0).tools(TOOLS).build();
    };
  }

  /** Holds the engine before the step whose input is the mark, which the model has just said. */
  private static final class Hold {
    private boolean armed;
    private boolean held;

    synchronized void arm() {
      armed = true;
    }

    synchronized boolean holds() {
      return held;
    }

    synchronized void release() {
      armed = false;
      held = false;
      notifyAll();
    }

    synchronized void pass(Batch batch) {
      for (int i = 0; armed && i < batch.outputs(); i++) {
        held |= batch.rowToken(batch.outputRow(i)) == MARK;
      }
      try {
        while (held) {
          wait();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Notes deltas, counts checkpoints, and fails when the test says so. */
  private static final class Failing extends RichMapFunction<ReplyDelta, String>
      implements CheckpointListener {
    private static final long serialVersionUID = 1L;

    @Override
    public String map(ReplyDelta delta) {
      DELTAS.add(delta);
      if (FAILS.compareAndSet(true, false)) {
        throw new IllegalStateException("injected");
      }
      return delta.turn();
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
      CHECKPOINTS.incrementAndGet();
    }
  }
}
