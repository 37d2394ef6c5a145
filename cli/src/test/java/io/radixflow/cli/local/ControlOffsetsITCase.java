package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.jobs.kafka.ControlOffsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControlOffsetsITCase {

  private static final String TOPIC = "conversation-control";
  private static final TopicPartition FIRST = new TopicPartition(TOPIC, 0);
  private static final TopicPartition SECOND = new TopicPartition(TOPIC, 1);

  @TempDir Path dir;

  @Test
  void aJobBeginsWhereItsGroupStoodElseBehindOldCommands() throws Exception {
    try (LocalBroker broker = LocalBroker.start(dir)) {
      Settings settings =
          new SettingsLoader()
              .set(
                  List.of(
                      "kafka.bootstrap-servers=" + broker.bootstrapServers(),
                      "kafka.connect-timeout=60s"))
              .load();
      assertThatExceptionOfType(KafkaSetupException.class)
          .isThrownBy(() -> ControlOffsets.of(settings))
          .withMessageContaining("cannot ask for the offsets of the topic " + TOPIC);
      try (Admin admin = Admin.create(settings.kafkaClient())) {
        admin.createTopics(List.of(new NewTopic(TOPIC, 2, (short) 1))).all().get();
        write(settings, 3, 1);
        assertThat(ControlOffsets.of(settings)).isEqualTo(Map.of(FIRST, 3L, SECOND, 1L));
        admin
            .alterConsumerGroupOffsets("radixflow", Map.of(FIRST, new OffsetAndMetadata(2)))
            .all()
            .get();
        assertThat(ControlOffsets.of(settings)).isEqualTo(Map.of(FIRST, 2L, SECOND, 1L));
      }
    }
  }

  private static void write(Settings settings, int first, int second) {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            settings.kafkaClient(), new ByteArraySerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < first + second; i++) {
        producer.send(new ProducerRecord<>(TOPIC, i < first ? 0 : 1, null, new byte[1]));
      }
    }
  }
}
