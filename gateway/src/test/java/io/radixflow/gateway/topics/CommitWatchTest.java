package io.radixflow.gateway.topics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartitionInfo;
import org.junit.jupiter.api.Test;

class CommitWatchTest {
  private final CommitWatch watch = new CommitWatch(Duration.ofSeconds(60));

  private String look(long seconds, Map<Integer, Long> written, Map<Integer, Long> committed) {
    return watch.problem(written, committed, TimeUnit.SECONDS.toNanos(seconds));
  }

  @Test
  void repliesThatAreNotCommittedForLongAreAProblemUntilTheyAre() {
    assertThat(look(0, Map.of(0, 5L, 1, 9L), Map.of(0, 5L, 1, 8L))).isNull();
    assertThat(look(59, Map.of(0, 5L, 1, 9L), Map.of(0, 5L, 1, 8L))).isNull();
    assertThat(look(75, Map.of(0, 5L, 1, 30L), Map.of(0, 5L, 1, 8L)))
        .contains("have not been committed for 75 s", "failed checkpoints");
    assertThat(look(77, Map.of(0, 5L, 1, 31L), Map.of(0, 5L, 1, 31L))).isNull();
  }

  @Test
  void commitsThatGoOnAreNone() {
    for (long second = 0; second < 300; second += 2) {
      assertThat(look(second, Map.of(0, second + 1), Map.of(0, second))).isNull();
    }
  }

  @Test
  void anIdleTopicIsNone() {
    assertThat(look(0, Map.of(0, 7L), Map.of(0, 7L))).isNull();
    assertThat(look(9000, Map.of(0, 7L), Map.of(0, 7L))).isNull();
  }

  @Test
  void aTopicIsReadyOnceAllItsPartitionsAreRead() {
    Node leader = new Node(1, "a", 1);
    TopicPartitionInfo first = new TopicPartitionInfo(0, leader, List.of(), List.of());
    TopicPartitionInfo second = new TopicPartitionInfo(1, leader, List.of(), List.of());
    TopicPartitionInfo headless = new TopicPartitionInfo(1, null, List.of(), List.of());
    assertThat(TopicProbe.problem("replies", List.of(first, second), 2)).isNull();
    assertThat(TopicProbe.problem("events", List.of(first, second), null)).isNull();
    assertThat(TopicProbe.problem("replies", List.of(first, second), 1))
        .contains("the topic replies has 2 partitions, of which 1 are read");
    assertThat(TopicProbe.problem("events", List.of(first, headless), null))
        .contains("1 of 2 partitions of the topic events have no leader");
  }
}
