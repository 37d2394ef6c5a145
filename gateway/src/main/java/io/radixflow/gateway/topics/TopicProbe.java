package io.radixflow.gateway.topics;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.client.kafka.KafkaClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Checks at the brokers that the topics are usable and that replies are committed. It has one
 * thread; each check may take seconds.
 */
final class TopicProbe implements AutoCloseable {
  private static final int LOOK_MILLIS = 2000;

  /**
   * The minimum patience, because new partitions are read only after a while; see {@link
   * KafkaClient}.
   */
  private static final Duration LEAST_PATIENCE = Duration.ofMinutes(1);

  private final String brokers;
  private final String events;
  private final String replies;
  private final Admin admin;
  private final CommitWatch commits;

  TopicProbe(Settings settings) {
    brokers = settings.get(KafkaConfig.BOOTSTRAP_SERVERS);
    events = settings.get(KafkaConfig.EVENTS_TOPIC);
    replies = settings.get(KafkaConfig.REPLIES_TOPIC);
    admin = KafkaClient.PROBE.admin(settings);
    Duration intervals = settings.get(SharedConfig.CHECKPOINT_INTERVAL).multipliedBy(3);
    commits = new CommitWatch(intervals.compareTo(LEAST_PATIENCE) > 0 ? intervals : LEAST_PATIENCE);
  }

  /**
   * Checks once.
   *
   * @param read number of partitions of each followed topic that are read
   * @return the problem, or null
   */
  String look(Map<String, Integer> read) throws InterruptedException {
    List<String> topics = new ArrayList<>(read.keySet());
    topics.add(events);
    Map<String, KafkaFuture<TopicDescription>> found =
        admin
            .describeTopics(topics, new DescribeTopicsOptions().timeoutMs(LOOK_MILLIS))
            .topicNameValues();
    for (String topic : topics) {
      try {
        TopicDescription description = found.get(topic).get();
        String problem = problem(description.name(), description.partitions(), read.get(topic));
        if (problem != null) {
          return problem;
        }
        if (topic.equals(replies)) {
          problem = uncommitted(description.partitions());
          if (problem != null) {
            return problem;
          }
        }
      } catch (ExecutionException e) {
        return reason(topic, e.getCause());
      }
    }
    return null;
  }

  /**
   * Returns the problem of a topic, or null.
   *
   * @param read number of its partitions that are read; null if the topic need not be read
   */
  static String problem(String topic, Collection<TopicPartitionInfo> partitions, Integer read) {
    long headless = partitions.stream().filter(each -> each.leader() == null).count();
    if (headless > 0) {
      return "%d of %d partitions of the topic %s have no leader: look at the brokers"
          .formatted(headless, partitions.size(), topic);
    }
    return read == null || read == partitions.size()
        ? null
        : "the topic %s has %d partitions, of which %d are read; the others follow in seconds"
            .formatted(topic, partitions.size(), read);
  }

  private String uncommitted(List<TopicPartitionInfo> partitions)
      throws ExecutionException, InterruptedException {
    List<TopicPartition> all =
        partitions.stream().map(each -> new TopicPartition(replies, each.partition())).toList();
    Map<Integer, Long> committed = ends(all, IsolationLevel.READ_COMMITTED);
    Map<Integer, Long> written = ends(all, IsolationLevel.READ_UNCOMMITTED);
    return commits.problem(written, committed, System.nanoTime());
  }

  private Map<Integer, Long> ends(List<TopicPartition> partitions, IsolationLevel isolation)
      throws ExecutionException, InterruptedException {
    Map<TopicPartition, OffsetSpec> latest =
        partitions.stream()
            .collect(Collectors.toMap(Function.identity(), p -> OffsetSpec.latest()));
    Map<Integer, Long> ends = new HashMap<>();
    admin
        .listOffsets(latest, new ListOffsetsOptions(isolation).timeoutMs(LOOK_MILLIS))
        .all()
        .get()
        .forEach((partition, end) -> ends.put(partition.partition(), end.offset()));
    return ends;
  }

  private String reason(String topic, Throwable cause) {
    if (cause instanceof UnknownTopicOrPartitionException) {
      return "the topic " + topic + " does not exist on " + brokers;
    }
    if (cause instanceof AuthorizationException) {
      return "the topic " + topic + " must not be used: " + cause.getMessage();
    }
    return "no Kafka broker answers at " + brokers;
  }

  @Override
  public void close() {
    admin.close(Duration.ofMillis(LOOK_MILLIS));
  }
}
