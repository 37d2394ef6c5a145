package io.radixflow.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class EventDeserializerTest {
  private static final String EVENT =
      "{\"session\":\"s1\",\"turn\":\"t1\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

  private static EventRecord read(boolean requireSessionKey, String key, String value) {
    EventDeserializer deserializer = new EventDeserializer(1 << 20, 1 << 20, requireSessionKey);
    deserializer.open(null);
    List<EventRecord> records = new ArrayList<>();
    deserializer.deserialize(
        new ConsumerRecord<>(
            "events",
            3,
            4,
            key == null ? null : key.getBytes(UTF_8),
            value == null ? null : value.getBytes(UTF_8)),
        new ListCollector<>(records));
    return records.get(0);
  }

  @Test
  void anEventWhoseKeyIsItsSessionIsServed() {
    EventRecord record = read(true, "s1", EVENT);
    assertThat(record.event().turn()).isEqualTo("t1");
    assertThat(record.deadLetter()).isNull();
  }

  @Test
  void anEventWithoutAKeyIsADeadLetter() {
    EventRecord record = read(true, null, EVENT);
    assertThat(record.event()).isNull();
    assertThat(record.deadLetter().reason())
        .startsWith("the record's key is missing; it must be the session");
    assertThat(record.deadLetter().value()).isEqualTo(EVENT.getBytes(UTF_8));
  }

  @Test
  void anEventWithAnotherKeyIsADeadLetter() {
    EventRecord record = read(true, "s2", EVENT);
    assertThat(record.event()).isNull();
    assertThat(record.deadLetter().reason())
        .startsWith("the record's key differs from the event's session")
        .contains("kafka.require-session-key");
    assertThat(record.deadLetter().key()).isEqualTo("s2".getBytes(UTF_8));
  }

  @Test
  void anotherKeyIsServedWhereTheJobAllowsIt() {
    assertThat(read(false, null, EVENT).event().session()).isEqualTo("s1");
    assertThat(read(false, "s2", EVENT).deadLetter()).isNull();
  }

  @Test
  void anInvalidEventWithAnotherKeyKeepsItsReasonAndIsNotAnswered() {
    EventRecord record = read(true, "s2", "{\"session\":\"s1\",\"turn\":\"t1\",\"speed\":9}");
    assertThat(record.event()).isNull();
    assertThat(record.deadLetter().reason()).contains("speed");
  }

  @Test
  void aTombstoneIsADeadLetterThatSaysHowToEndASession() {
    EventRecord record = read(true, "s1", null);
    assertThat(record.event()).isNull();
    assertThat(record.deadLetter().reason()).contains("tombstone", "close", "erase");
    assertThat(record.deadLetter().originalBytes()).isEqualTo(-1);
    assertThat(read(true, null, null).deadLetter()).isNotNull();
  }
}
