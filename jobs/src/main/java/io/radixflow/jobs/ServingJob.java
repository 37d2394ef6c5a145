package io.radixflow.jobs;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.jobs.kafka.ControlRecord;
import io.radixflow.jobs.kafka.EventRecord;
import io.radixflow.operators.api.Conversations;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.topic.DeadLetter;
import java.util.stream.Collectors;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The job graph.
 *
 * <pre>
 * events ─ route ─ keyBy(session) ─┐           ┌─ replies ─ replies topic
 *            │                     ├─ serving ─┼─ deltas ─ deltas topic
 *            └─ dead letters       │           ├─ refused ─ dead letters
 * control ─ route ─ broadcast ─────┘           └─ index ─ index topic
 * </pre>
 */
public final class ServingJob {

  private ServingJob() {}

  /** Returns an environment with the job's configuration, without any operators. */
  public static StreamExecutionEnvironment environment(Settings settings) {
    return StreamExecutionEnvironment.getExecutionEnvironment(JobConfiguration.of(settings));
  }

  /**
   * Builds the job.
   *
   * @param environment made by {@link #environment}
   * @param engine opens the engine on each TaskManager
   */
  public static void build(
      StreamExecutionEnvironment environment,
      Settings settings,
      JobEndpoints endpoints,
      EngineFactory engine) {
    SingleOutputStreamOperator<ConversationEvent> events =
        environment
            .fromSource(
                endpoints.events(),
                WatermarkStrategy.noWatermarks(),
                "events",
                TypeInformation.of(EventRecord.class))
            .uid("events")
            .setDescription("events of " + settings.get(KafkaConfig.EVENTS_TOPIC))
            .process(new EventRouter<>(), TypeInformation.of(ConversationEvent.class))
            .name("route events")
            .uid("route-events");
    SingleOutputStreamOperator<ControlEvent> control =
        environment
            .fromSource(
                endpoints.control(),
                WatermarkStrategy.noWatermarks(),
                "control",
                TypeInformation.of(ControlRecord.class))
            .uid("control")
            .setDescription("control events of " + settings.get(KafkaConfig.CONTROL_TOPIC))
            .setParallelism(1)
            .process(new EventRouter<>(), TypeInformation.of(ControlEvent.class))
            .name("route control")
            .uid("route-control")
            .setParallelism(1);
    JobEndpoints.Sinks sinks = endpoints.sinks();
    Conversations conversations =
        Conversations.on(engine.publishing(endpoints.kvEvents()))
            .with(ServingSettings.operator(settings))
            .controlledBy(control)
            .recovering(endpoints.lostReplies());
    Conversations.Served served =
        (sinks.index() == null ? conversations : conversations.indexed()).serve(events);
    served.replies().setDescription(describe(settings));
    served.replies().sinkTo(sinks.replies()).name("replies").uid("replies");
    served.deltas().sinkTo(sinks.deltas()).name("deltas").uid("deltas");
    if (sinks.index() != null) {
      served.index().sinkTo(sinks.index()).name("index").uid("index");
    }
    DataStream<DeadLetter> refused =
        served
            .refused()
            .map(
                new RefusedEvents(
                    settings.get(KafkaConfig.EVENTS_TOPIC),
                    settings.get(KafkaConfig.DEAD_LETTER_MAX_BYTES)),
                TypeInformation.of(DeadLetter.class))
            .name("refused events")
            .uid("refused-events");
    refused
        .union(
            events.getSideOutput(EventRouter.DEAD_LETTERS),
            control.getSideOutput(EventRouter.DEAD_LETTERS))
        .sinkTo(sinks.deadLetters())
        .name("dead letters")
        .uid("dead-letters");
  }

  /** Describes the operator on Flink's page: the model and the options that were given. */
  private static String describe(Settings settings) {
    return JobConfiguration.shown(settings).entrySet().stream()
        .map(option -> option.getKey() + "=" + option.getValue())
        .collect(Collectors.joining(", ", "serving: ", ""));
  }
}
