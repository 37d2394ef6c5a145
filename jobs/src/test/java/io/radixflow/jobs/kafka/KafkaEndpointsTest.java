package io.radixflow.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.jobs.event.DeadLetter;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class KafkaEndpointsTest {
  private static final DeadLetter LETTER =
      new DeadLetter("events", 0, 7, -1, null, new byte[] {1}, 1, "no JSON");

  @Test
  void aDeadLetterHasTheTimeOfTheRecordThatItWas() {
    assertThat(KafkaEndpoints.deadLetter("letters", 5L, LETTER).timestamp()).isEqualTo(5);
  }

  @Test
  void theDeadLetterOfARecordWithoutATimeGetsTheProducersTime() {
    assertThat(KafkaEndpoints.deadLetter("letters", null, LETTER).timestamp()).isNull();
    assertThat(
            KafkaEndpoints.deadLetter("letters", ConsumerRecord.NO_TIMESTAMP, LETTER).timestamp())
        .isNull();
  }
}
