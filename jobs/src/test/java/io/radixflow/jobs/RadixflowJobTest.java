package io.radixflow.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsException;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.jobs.config.RadixflowOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RadixflowJobTest {

  @Test
  void argumentsNameFilesAndAssignmentsInAnyOrder(@TempDir Path dir) throws Exception {
    Path file = Files.writeString(dir.resolve("o.yaml"), "model: a\njob.name: from-file\n");
    Settings settings =
        RadixflowJob.settings(
            new String[] {"--set", "model=c", "--config", file.toString()},
            Map.of("RADIXFLOW_MODEL", "b", "RADIXFLOW_KAFKA_GROUP_ID", "g"));
    assertThat(settings.get(SharedConfig.MODEL)).isEqualTo("c");
    assertThat(settings.get(RadixflowOptions.JOB_NAME)).isEqualTo("from-file");
    assertThat(settings.get(KafkaConfig.GROUP_ID)).isEqualTo("g");
  }

  @Test
  void theEnvironmentDoesNotOverrideSettingsOfAnotherProcess(@TempDir Path dir) throws Exception {
    Path file = Files.writeString(dir.resolve("o.yaml"), "model: a\n");
    Settings settings =
        RadixflowJob.settings(
            new String[] {"--settings", file.toString()},
            Map.of("RADIXFLOW_MODEL", "b", "RADIXFLOW_KAFKA_GROUP_ID", "g"));
    assertThat(settings.get(SharedConfig.MODEL)).isEqualTo("a");
    assertThat(settings.get(KafkaConfig.GROUP_ID)).isEqualTo("g");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--set", "--settings", "--config", "--help", "model=x"})
  void whatIsNoArgumentIsRefusedWithTheUsage(String word) {
    assertThatExceptionOfType(SettingsException.class)
        .isThrownBy(() -> RadixflowJob.settings(new String[] {word}, Map.of()))
        .withMessageContaining("--config FILE, --settings FILE and --set KEY=VALUE");
  }

  @Test
  void withoutABrokerTheJobIsNotSubmitted() {
    String[] arguments = {
      "--set", "kafka.bootstrap-servers=127.0.0.1:1", "--set", "kafka.connect-timeout=1s"
    };
    assertThatExceptionOfType(KafkaSetupException.class)
        .isThrownBy(() -> RadixflowJob.main(arguments))
        .withMessageContaining("no Kafka broker answers at 127.0.0.1:1");
  }
}
