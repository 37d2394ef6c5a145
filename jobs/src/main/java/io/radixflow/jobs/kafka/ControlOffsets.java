package io.radixflow.jobs.kafka;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.client.kafka.KafkaSetupException;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * Finds the offsets at which a job without a checkpoint starts to read control events: its group's
 * offsets, else the end of the topic at the job's submission, so that it does not obey old
 * commands. The offsets are fixed at the submission, so a job that fails before its first
 * checkpoint starts at the same offsets again.
 */
public final class ControlOffsets {

  private ControlOffsets() {}

  /**
   * Asks the brokers.
   *
   * @throws KafkaSetupException if they do not answer
   */
  public static Map<TopicPartition, Long> of(Settings settings) {
    String topic = settings.get(KafkaConfig.CONTROL_TOPIC);
    long millis = settings.get(KafkaConfig.CONNECT_TIMEOUT).toMillis();
    Map<TopicPartition, Long> offsets =
        TopicOffsets.ask(settings, topic, IsolationLevel.READ_COMMITTED).endsByPartition();
    try (Admin admin = KafkaClient.ADMIN.admin(settings)) {
      Map<TopicPartition, OffsetAndMetadata> committed =
          admin
              .listConsumerGroupOffsets(settings.get(KafkaConfig.GROUP_ID))
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
