package io.radixflow.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TopicFollowerTest {

  private static final String TOPIC = "replies";

  private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest");
  private final BlockingQueue<Long> handled = new LinkedBlockingQueue<>();
  private final AskedTurns asked = new AskedTurns();

  @BeforeEach
  void assign() {
    TopicPartition partition = new TopicPartition(TOPIC, 0);
    consumer.assign(List.of(partition));
    consumer.updateBeginningOffsets(Map.of(partition, 0L));
  }

  @Test
  void aRecordThatCannotBeHandledIsSkipped() throws Exception {
    for (long offset = 0; offset < 3; offset++) {
      consumer.addRecord(new ConsumerRecord<>(TOPIC, 0, offset, null, new byte[0]));
    }
    try (TopicFollower follower =
        TopicFollower.start(consumer, TOPIC, this::handleAllButTheSecond, asked::fail)) {
      assertThat(follower).isNotNull();
      assertThat(handled.poll(60, TimeUnit.SECONDS)).isZero();
      assertThat(handled.poll(60, TimeUnit.SECONDS)).isEqualTo(2);
    }
    assertThat(consumer.closed()).isTrue();
  }

  @Test
  void partitionsThatAreAddedAreReadFromTheirBeginning() throws Exception {
    try (TopicFollower follower =
        TopicFollower.start(consumer, TOPIC, record -> handled.add(record.offset()), asked::fail)) {
      assertThat(follower.partitions()).isEqualTo(1);
      TopicPartition added = new TopicPartition(TOPIC, 1);
      consumer.schedulePollTask(
          () -> {
            consumer.updateBeginningOffsets(Map.of(added, 3L));
            consumer.updatePartitions(
                TOPIC,
                List.of(
                    new PartitionInfo(TOPIC, 0, null, null, null),
                    new PartitionInfo(TOPIC, 1, null, null, null)));
          });
      await().atMost(Duration.ofSeconds(60)).until(() -> follower.partitions() == 2);
      consumer.schedulePollTask(
          () -> consumer.addRecord(new ConsumerRecord<>(TOPIC, 1, 3, null, new byte[0])));
      assertThat(handled.poll(60, TimeUnit.SECONDS)).isEqualTo(3);
    }
  }

  private static ConversationEvent query() {
    return ConversationEvent.builder(EventKind.QUERY, "s", "t").build();
  }

  private void handleAllButTheSecond(ConsumerRecord<byte[], byte[]> record) {
    if (record.offset() == 1) {
      throw new IllegalStateException("no such record");
    }
    handled.add(record.offset());
  }

  @Test
  void aCallerThatWaitsLearnsWhyFollowingEnded() {
    CompletableFuture<Reply> pending = asked.add(query(), ReplyListener.SILENT);
    consumer.setPollException(new KafkaException("not authorized"));
    try (TopicFollower follower = TopicFollower.start(consumer, TOPIC, record -> {}, asked::fail)) {
      assertThat(follower).isNotNull();
      assertFailed(pending);
      assertFailed(asked.add(query(), ReplyListener.SILENT));
    }
  }

  private static void assertFailed(CompletableFuture<Reply> reply) {
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> reply.get(60, TimeUnit.SECONDS))
        .havingCause()
        .isInstanceOf(KafkaSetupException.class)
        .withMessageContaining("the topic replies can no longer be read: not authorized")
        .withMessageContaining("start this command again");
  }
}
