package io.radixflow.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.client.config.SettingsLoader;
import io.radixflow.protocol.topic.DeadLetter;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

class DeadLetterRecordsTest {
  private static final DeadLetter LETTER =
      new DeadLetter("events", 0, 7, -1, null, new byte[] {1}, 1, "no JSON");

  private final DeadLetterRecords records = new DeadLetterRecords(new SettingsLoader().load());

  private ProducerRecord<byte[], byte[]> record(DeadLetter letter, Long timestamp) {
    return records.serialize(letter, null, timestamp);
  }

  private void topicTakes(int bytes) {
    records.begin(new RecordRoom("letters", bytes));
  }

  @Test
  void aDeadLetterHasTheTimeOfTheRecordThatItWas() {
    topicTakes(1000);
    assertThat(record(LETTER, 5L).timestamp()).isEqualTo(5);
  }

  @Test
  void theDeadLetterOfARecordWithoutATimeGetsTheProducersTime() {
    topicTakes(1000);
    assertThat(record(LETTER, null).timestamp()).isNull();
    assertThat(record(LETTER, ConsumerRecord.NO_TIMESTAMP).timestamp()).isNull();
  }

  @Test
  void aDeadLetterIsCutToWhatItsTopicTakes() {
    DeadLetter large =
        new DeadLetter("events", 0, 7, 1, new byte[900], new byte[90_000], 90_000, "no JSON");
    topicTakes(2000);
    ProducerRecord<byte[], byte[]> cut = record(large, 5L);
    assertThat(cut.key().length + cut.value().length).isBetween(1000, 2000);
    topicTakes(100);
    assertThat(record(large, 5L)).isNull();
  }
}
