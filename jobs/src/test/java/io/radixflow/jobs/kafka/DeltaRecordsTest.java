package io.radixflow.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.client.config.SettingsLoader;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.topic.RecordReader;
import io.radixflow.text.template.Message;
import java.io.IOException;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

class DeltaRecordsTest {
  private final DeltaRecords records = new DeltaRecords(new SettingsLoader().load());

  private ReplyDelta written(int topicTakes, ReplyDelta delta) throws IOException {
    records.begin(new RecordRoom("reply-deltas", topicTakes));
    ProducerRecord<byte[], byte[]> record = records.serialize(delta, null, null);
    if (record == null) {
      return null;
    }
    assertThat(record.value().length).isLessThan(topicTakes);
    return RecordReader.delta(record.value());
  }

  private static ReplyDelta delta(String text, String finish) {
    return new ReplyDelta("s", "main", "t", 0, 10, 4, 3, 1, text, finish, Usage.NONE);
  }

  @Test
  void aDeltaThatFitsIsWrittenAsItIs() throws IOException {
    assertThat(written(1000, delta("hello", null)).text()).isEqualTo("hello");
  }

  @Test
  void aDeltaThatIsTooLargeLeavesAGapAfterWhichItsReaderAsks() throws IOException {
    ReplyDelta last = written(1000, delta("\uD83D\uDE00".repeat(5000), "stop"));
    assertThat(last.text()).isEmpty();
    assertThat(last.offset()).isEqualTo(5010);
    assertThat(last.finishReason()).isEqualTo("stop");
    assertThat(written(Integer.MAX_VALUE, delta("a".repeat(2_000_000), null)).offset())
        .isEqualTo(2_000_010);
    assertThat(written(120, delta("hello", null))).isNull();
  }

  @Test
  void anAnswerThatIsTooLargeIsCutOrSaysSo() throws IOException {
    Reply answer =
        Reply.builder("s", "main", "q", EventKind.QUERY)
            .items(List.of(new Reply.Item("t", new Message("assistant", "a".repeat(60_000)))))
            .build();
    ReplyDelta delta = ReplyDelta.last(answer);
    assertThat(written(100_000, delta).answer().items()).hasSize(1);
    assertThat(written(40_000, delta).answer().items()).isNull();
    assertThat(written(2000, delta).answer()).isNull();
    assertThat(written(2000, delta).error().message()).contains("larger than a record");
  }
}
