package io.radixflow.jobs.kafka.replies;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.client.config.SettingsLoader;
import io.radixflow.jobs.kafka.RecordRoom;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

class ReplyRecordsTest {
  private static final Reply REPLY =
      Reply.builder("s", "main", "t", EventKind.MESSAGE)
          .text("a".repeat(30_000))
          .finishReason("stop")
          .attempt(3)
          .created(7000)
          .build();

  private final ReplyRecords records = new ReplyRecords(new SettingsLoader().load());

  private Reply written(int topicTakes) throws IOException {
    records.begin(new RecordRoom("replies", topicTakes));
    ProducerRecord<byte[], byte[]> record = records.serialize(REPLY, null, null);
    if (record == null) {
      return null;
    }
    assertThat(record.value().length + record.key().length).isLessThan(topicTakes);
    return RecordReader.reply(record.value());
  }

  @Test
  void aReplyThatItsTopicTakesIsWhole() throws IOException {
    assertThat(written(Integer.MAX_VALUE).text()).isEqualTo(REPLY.text());
    assertThat(written(40_000).text()).isEqualTo(REPLY.text());
  }

  @Test
  void aReplyThatItsTopicDoesNotTakeIsCut() throws IOException {
    assertThat(written(25_000).text()).isNotEmpty().hasSizeLessThan(9_000);
    assertThat(written(25_000).finishReason()).isEqualTo("stop");
  }

  @Test
  void withLittleRoomAnErrorComesInItsPlaceAndNamesBothLimits() throws IOException {
    Reply error = written(1000);
    assertThat(error.finishReason()).isEqualTo("error");
    assertThat(error.turn()).isEqualTo("t");
    assertThat(error.error().message())
        .contains("max.message.bytes of the topic replies is 1000", "lower replies.max-bytes");
  }

  @Test
  void withNoRoomForAnErrorThereIsNoReplyAndTheJobGoesOn() throws IOException {
    assertThat(written(150)).isNull();
  }
}
