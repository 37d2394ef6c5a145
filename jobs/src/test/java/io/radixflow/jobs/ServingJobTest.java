package io.radixflow.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.jobs.config.Settings;
import io.radixflow.jobs.config.SettingsLoader;
import io.radixflow.jobs.kafka.ControlRecord;
import io.radixflow.jobs.kafka.EventRecord;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
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

  private static JobEndpoints endpoints() {
    return new JobEndpoints(
        new DataGeneratorSource<>(n -> null, 1, TypeInformation.of(EventRecord.class)),
        new DataGeneratorSource<>(n -> null, 1, TypeInformation.of(ControlRecord.class)),
        new DiscardingSink<>(),
        new DiscardingSink<>(),
        new DiscardingSink<>(),
        null,
        null);
  }
}
