package io.radixflow.examples;

import io.radixflow.operators.api.Conversations;
import io.radixflow.operators.api.ModelEngine;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * An agent inside a Flink job: the model calls tools, an operator of the job runs them, and their
 * results are the next turn. A stream cannot flow back, so each round has its own serving operator
 * and gets the whole conversation; all rounds share a cache, which contains its beginning. In the
 * last round the model must answer. Calls and results survive a crash like all state of Flink.
 *
 * <p>With Kafka the number of rounds need not be fixed: an operator reads the topic of replies and
 * writes the results to the topic of events.
 */
public final class AgentLoop {
  private static final int ROUNDS = 3;
  private static final OutputTag<ConversationEvent> NEXT =
      new OutputTag<>("next", TypeInformation.of(ConversationEvent.class));

  private static final String TOOLS =
      """
      [{"type": "function", "function": {"name": "shelf", "description": "The shelf of an article",
      "strict": true, "parameters": {"type": "object", "properties": {"article": {"type": "string"}},
      "required": ["article"], "additionalProperties": false}}}]\
      """;

  /** A question to the agent; a Flink POJO. */
  public record Task(String id, String text) {}

  private AgentLoop() {}

  /** Gives the agent two tasks and prints its answers; the first argument names the model. */
  public static void main(String[] args) throws Exception {
    StreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();
    DataStream<Task> tasks =
        job.fromData(
            new Task("1", "call shelf {\"article\": \"lamp\"}"), new Task("2", "Good morning!"));
    // the simulated model calls what its user tells it to call
    answers(tasks, ModelEngine.of(args.length > 0 ? args[0] : "sim:calls=1"))
        .map(reply -> reply.session() + ": " + reply.text())
        .print();
    job.execute("agent");
  }

  /** Returns the agent's answer to each task. */
  static DataStream<Reply> answers(DataStream<Task> tasks, EngineFactory engine) {
    DataStream<ConversationEvent> asked =
        tasks.map(task -> turn(task.id(), 1, List.of(new Message("user", task.text()))));
    DataStream<Reply> answers = null;
    for (int round = 1; round <= ROUNDS; round++) {
      Conversations.Served served =
          Conversations.on(engine).uid("agent-round-" + round).serve(asked);
      SingleOutputStreamOperator<Reply> answered =
          asked
              .keyBy(ConversationEvent::session)
              .connect(served.replies().keyBy(Reply::session))
              .process(new RunTools(round))
              .uid("tools-" + round);
      answers = answers == null ? answered : answers.union(answered);
      asked = answered.getSideOutput(NEXT);
    }
    return answers;
  }

  /** Returns a turn that has the whole conversation of a task. */
  private static ConversationEvent turn(String task, int round, List<Message> conversation) {
    return ConversationEvent.builder(EventKind.MESSAGE, task, "round-" + round)
        .messages(conversation)
        .matchHistory(true)
        .options(
            GenerationOptions.builder()
                .temperature(0.0)
                .maxTokens(200)
                .tools(TOOLS)
                .toolChoice(round < ROUNDS ? "auto" : "none")
                .build())
        .build();
  }

  /** Runs the tools that a reply calls, and asks again with their results. */
  private static final class RunTools
      extends KeyedCoProcessFunction<String, ConversationEvent, Reply, Reply> {
    private static final long serialVersionUID = 1L;

    private final int round;
    private transient MapState<String, ConversationEvent> asked;
    private transient MapState<String, Reply> early;

    RunTools(int round) {
      this.round = round;
    }

    @Override
    public void open(OpenContext context) {
      asked =
          getRuntimeContext()
              .getMapState(
                  new MapStateDescriptor<>("asked", String.class, ConversationEvent.class));
      early =
          getRuntimeContext()
              .getMapState(new MapStateDescriptor<>("early", String.class, Reply.class));
    }

    /** Keeps the question, because the reply does not repeat it. */
    @Override
    public void processElement1(ConversationEvent event, Context context, Collector<Reply> out)
        throws Exception {
      Reply reply = early.get(event.turn());
      if (reply == null) {
        asked.put(event.turn(), event);
      } else {
        early.remove(event.turn());
        go(event, reply, context, out);
      }
    }

    /** Takes a reply, which may overtake its question. */
    @Override
    public void processElement2(Reply reply, Context context, Collector<Reply> out)
        throws Exception {
      ConversationEvent event = asked.get(reply.turn());
      if (event == null) {
        early.put(reply.turn(), reply);
      } else {
        asked.remove(reply.turn());
        go(event, reply, context, out);
      }
    }

    private void go(ConversationEvent event, Reply reply, Context context, Collector<Reply> out) {
      if (!reply.finishReason().equals("tool_calls")) {
        out.collect(reply);
        return;
      }
      List<Message> conversation = new ArrayList<>(event.messages());
      String content = reply.text().isEmpty() ? null : reply.text();
      conversation.add(
          new Message("assistant", content, null, reply.toolCalls(), null, reply.reasoning()));
      for (ToolCall call : reply.toolCalls()) {
        conversation.add(new Message("tool", run(call), call.name(), List.of(), call.id(), null));
      }
      context.output(NEXT, turn(reply.session(), round + 1, conversation));
    }

    /** Runs a tool: a real one would ask a database, by asynchronous I/O. */
    private static String run(ToolCall call) {
      return "shelf " + (1 + Math.floorMod(call.arguments().hashCode(), 20));
    }
  }
}
