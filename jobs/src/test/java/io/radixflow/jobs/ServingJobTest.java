package io.radixflow.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.jobs.kafka.ControlRecord;
import io.radixflow.jobs.kafka.EventRecord;
import java.util.List;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.junit.jupiter.api.Test;

class ServingJobTest {

  @Test
  void theServingOperatorIsAloneInItsTaskSoThatItDoesNotWaitForSinks() {
    Settings settings = new SettingsLoader().load();
    StreamExecutionEnvironment environment = ServingJob.environment(settings);
    ServingJob.build(
        environment, settings, endpoints(), ServingSettings.engine(settings, n -> null));

    assertThat(environment.getStreamGraph().getJobGraph().getVertices())
        .extracting(JobVertex::getName)
        .contains("serving")
        .anyMatch(name -> name.startsWith("replies"))
        .anyMatch(name -> name.startsWith("deltas"));
  }

  @Test
  void flinksPageShowsTheModelAndTheGivenOptionsButNoSecrets() throws Exception {
    Settings settings =
        new SettingsLoader()
            .set(
                List.of(
                    "model=/models/small.gguf",
                    "engine.page-tokens=32",
                    "cache.namespace-key=hush",
                    "tiers.host-memory=1gb",
                    "tiers.remote-directory=s3://me:hush@bucket/pages",
                    "kafka.client.sasl.jaas.config=x password=hush;",
                    "kafka.client.ssl.keystore.key=hush",
                    "flink.s3.secret-key=hush"))
            .load();
    StreamExecutionEnvironment environment = ServingJob.environment(settings);
    ServingJob.build(
        environment, settings, endpoints(), ServingSettings.engine(settings, n -> null));

    ExecutionConfig.GlobalJobParameters shown = environment.getConfig().getGlobalJobParameters();
    assertThat(shown.toMap())
        .containsEntry("model", "/models/small.gguf")
        .containsEntry("model.device", "auto")
        .containsEntry("engine.page-tokens", "32")
        .containsEntry("tiers.remote-directory", "s3://******@bucket/pages")
        .containsEntry("cache.namespace-key", "******");
    assertThat(shown.toMap().toString()).doesNotContain("hush");
    StreamGraph graph = environment.getStreamGraph();
    assertThat(graph.getJobName()).isEqualTo("radixflow /models/small.gguf");
    assertThat(graph.getStreamingPlanAsJSON())
        .contains(
            "model=/models/small.gguf", "engine.page-tokens=32", "events of conversation-events")
        .doesNotContain("hush");
  }

  private static JobEndpoints endpoints() {
    return new JobEndpoints(
        new DataGeneratorSource<>(n -> null, 1, TypeInformation.of(EventRecord.class)),
        new DataGeneratorSource<>(n -> null, 1, TypeInformation.of(ControlRecord.class)),
        new JobEndpoints.Sinks(
            new DiscardingSink<>(),
            new DiscardingSink<>(),
            new DiscardingSink<>(),
            new DiscardingSink<>()),
        null,
        null);
  }
}
