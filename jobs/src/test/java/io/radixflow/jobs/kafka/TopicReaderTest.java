package io.radixflow.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplitSerializer;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

class TopicReaderTest {
  private static final String TOPIC = "events";
  private static final Uuid OLD = Uuid.randomUuid();
  private static final Uuid NEW = Uuid.randomUuid();

  private final Counter deleted = new SimpleCounter();

  /** Where the connector's reader stands. */
  private List<KafkaPartitionSplit> stands = List.of();

  private static KafkaPartitionSplit at(int partition, long offset) {
    return new KafkaPartitionSplit(new TopicPartition(TOPIC, partition), offset);
  }

  private static KafkaPartitionSplit at(int partition, long offset, Uuid topic) {
    return new TopicSplit(at(partition, offset), topic);
  }

  /** A topic with one partition. */
  private static TopicOffsets topic(Uuid id, long beginning, long end) {
    return new TopicOffsets(TOPIC, id, Map.of(0, beginning), Map.of(0, end), Map.of());
  }

  private static List<Long> offsets(List<KafkaPartitionSplit> splits) {
    return splits.stream().map(KafkaPartitionSplit::getStartingOffset).toList();
  }

  private long fit(TopicOffsets topic, KafkaPartitionSplit split) {
    return offsets(topic.fit(List.of(split), deleted::inc)).get(0);
  }

  @Test
  void anOffsetOfTheSameTopicStays() {
    assertThat(fit(topic(OLD, 3, 9), at(0, 3, OLD))).isEqualTo(3);
    assertThat(fit(topic(OLD, 3, 9), at(0, 9, OLD))).isEqualTo(9);
    assertThat(fit(topic(OLD, 3, 9), at(0, 7))).isEqualTo(7);
    assertThat(fit(topic(Uuid.ZERO_UUID, 3, 9), at(0, 7, OLD))).isEqualTo(7);
    assertThat(deleted.getCount()).isZero();
  }

  @Test
  void whereNothingWasReadTheConnectorDecides() {
    long earliest = KafkaPartitionSplit.EARLIEST_OFFSET;
    assertThat(fit(topic(OLD, 3, 9), at(0, earliest))).isEqualTo(earliest);
    long committed = KafkaPartitionSplit.COMMITTED_OFFSET;
    assertThat(fit(topic(NEW, 3, 9), at(0, committed, OLD))).isEqualTo(committed);
  }

  @Test
  void aTopicThatWasCreatedAgainIsReadFromItsBeginning() {
    assertThat(fit(topic(NEW, 0, 480), at(0, 125, OLD))).isZero();
    assertThat(fit(topic(NEW, 0, 10), at(0, 125, OLD))).isZero();
    assertThat(deleted.getCount()).isZero();
  }

  @Test
  void aTopicThatLostItsEndIsReadFromItsBeginning() {
    assertThat(fit(topic(OLD, 2, 10), at(0, 11, OLD))).isEqualTo(2);
    assertThat(fit(topic(OLD, 2, 10), at(0, 11))).isEqualTo(2);
  }

  @Test
  void recordsThatWereDeletedUnreadAreCounted() {
    assertThat(fit(topic(OLD, 40, 50), at(0, 15, OLD))).isEqualTo(40);
    assertThat(fit(topic(OLD, 40, 50), at(0, 39))).isEqualTo(40);
    assertThat(deleted.getCount()).isEqualTo(26);
  }

  @Test
  void aPartitionThatIsGoneIsLeftOut() {
    assertThat(topic(NEW, 0, 5).fit(List.of(at(1, 7, OLD)), deleted::inc)).isEmpty();
  }

  @Test
  void theStateHasTheTopicsId() throws Exception {
    TopicReader<String> reader = new TopicReader<>(kafka(), () -> topic(NEW, 0, 9), deleted);
    reader.addSplits(List.of(at(0, 4)));
    assertThat(reader.snapshotState(1)).containsExactly(at(0, 4, NEW));
    TopicSplit.Serializer serializer = new TopicSplit.Serializer();
    for (KafkaPartitionSplit split : List.of(at(0, 4, NEW), at(3, -2))) {
      byte[] bytes = serializer.serialize(split);
      KafkaPartitionSplit read = serializer.deserialize(serializer.getVersion(), bytes);
      assertThat(read).isEqualTo(split);
      assertThat(TopicSplit.topicId(read)).isEqualTo(TopicSplit.topicId(split));
    }
  }

  @Test
  void aTopicThatIsCreatedAgainWhileItIsReadIsKnownFromThenOn() {
    List<Uuid> ids = new ArrayList<>(List.of(OLD, NEW));
    TopicReader<String> reader =
        new TopicReader<>(kafka(), () -> topic(ids.remove(0), 0, 100), deleted);
    reader.addSplits(List.of(at(0, 4)));
    stands = List.of(at(0, 70));
    assertThat(reader.snapshotState(1)).containsExactly(at(0, 70, OLD));
    stands = List.of(at(0, 2));
    assertThat(reader.snapshotState(2)).containsExactly(at(0, 2, NEW));
    stands = List.of(at(0, 3));
    assertThat(reader.snapshotState(3)).containsExactly(at(0, 3, NEW));
  }

  @Test
  void stateOfTheConnectorAloneIsRead() throws Exception {
    KafkaPartitionSplitSerializer before = new KafkaPartitionSplitSerializer();
    TopicSplit.Serializer serializer = new TopicSplit.Serializer();
    assertThat(serializer.deserialize(before.getVersion(), before.serialize(at(2, 8))))
        .isEqualTo(at(2, 8));
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> serializer.deserialize(serializer.getVersion(), new byte[3]))
        .withMessageContaining("this version cannot read");
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> serializer.deserialize(serializer.getVersion() + 1, new byte[100]));
  }

  /** Returns a reader of the connector, at the position that it was given or that the test says. */
  @SuppressWarnings("unchecked")
  private SourceReader<String, KafkaPartitionSplit> kafka() {
    return (SourceReader<String, KafkaPartitionSplit>)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {SourceReader.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("addSplits")) {
                stands =
                    ((List<KafkaPartitionSplit>) arguments[0])
                        .stream()
                            .map(each -> at(each.getPartition(), each.getStartingOffset()))
                            .toList();
                return null;
              }
              return stands;
            });
  }
}
