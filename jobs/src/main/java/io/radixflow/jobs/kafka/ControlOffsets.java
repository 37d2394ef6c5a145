package io.radixflow.jobs.kafka;

import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * Finds the offsets at which a job without a checkpoint starts to read control events: its group's,
 * else the end of the topic at the job's submission, so that it does not obey old commands. They
 * are fixed then: a job that fails before its first checkpoint starts there again.
 */
public final class ControlOffsets {

  private ControlOffsets() {}

  /**
   * Asks the brokers.
   *
   * @throws KafkaSetupException if they do not answer
   */
  public static Map<TopicPartition, Long> of(Settings settings) {
    String topic = settings.get(RadixflowOptions.CONTROL_TOPIC);
    long millis = settings.get(RadixflowOptions.CONNECT_TIMEOUT).toMillis();
    try (Admin admin = KafkaClient.ADMIN.admin(settings)) {
      Map<TopicPartition, OffsetSpec> partitions =
          admin
              .describeTopics(List.of(topic))
              .topicNameValues()
              .get(topic)
              .get(millis, TimeUnit.MILLISECONDS)
              .partitions()
              .stream()
              .collect(
                  Collectors.toMap(
                      partition -> new TopicPartition(topic, partition.partition()),
                      partition -> OffsetSpec.latest()));
      Map<TopicPartition, Long> offsets = new HashMap<>();
      admin
          .listOffsets(partitions, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
          .all()
          .get(millis, TimeUnit.MILLISECONDS)
          .forEach((partition, end) -> offsets.put(partition, end.offset()));
      Map<TopicPartition, OffsetAndMetadata> committed =
          admin
              .listConsumerGroupOffsets(settings.get(RadixflowOptions.GROUP_ID))
              .partitionsToOffsetAndMetadata()
              .get(millis, TimeUnit.MILLISECONDS);
      offsets.replaceAll(
          (partition, end) -> {
            OffsetAndMetadata stood = committed.get(partition);
            return stood == null ? end : Long.valueOf(stood.offset());
          });
      return offsets;
    } catch (ExecutionException e) {
      throw unknown(topic, e.getCause());
    } catch (KafkaException | TimeoutException e) {
      throw unknown(topic, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unknown(topic, e);
    }
  }

  private static KafkaSetupException unknown(String topic, Throwable cause) {
    return new KafkaSetupException(
        "cannot find where to start in the topic " + topic + ": " + cause.getMessage(), cause);
  }
}
