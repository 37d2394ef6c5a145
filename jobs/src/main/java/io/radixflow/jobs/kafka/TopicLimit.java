package io.radixflow.jobs.kafka;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.client.kafka.KafkaSetupException;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;

/**
 * The largest record that the job writes to a topic.
 *
 * @param topic its name
 * @param option the key of the option that sets the limit
 * @param maxBytes the option's value
 */
public record TopicLimit(String topic, String option, int maxBytes) {

  /** Returns the limits of all topics whose records have a configurable size. */
  static List<TopicLimit> all(Settings settings) {
    return List.of(
        of(settings, KafkaConfig.REPLIES_TOPIC, KafkaConfig.REPLY_MAX_BYTES),
        of(settings, KafkaConfig.DEAD_LETTERS_TOPIC, KafkaConfig.DEAD_LETTER_MAX_BYTES));
  }

  private static TopicLimit of(
      Settings settings, ConfigOption<String> topic, ConfigOption<Integer> maxBytes) {
    return new TopicLimit(settings.get(topic), maxBytes.key(), settings.get(maxBytes));
  }

  /** Returns the smallest max.message.bytes of the topic that fits its records. */
  int batchBytes() {
    return maxBytes + KafkaClient.RECORD_OVERHEAD;
  }

  /**
   * Compares the limit with the topic's own.
   *
   * @throws KafkaSetupException if a record may be too large for the topic
   */
  void check(long maxMessageBytes) {
    if (maxMessageBytes < batchBytes()) {
      throw new KafkaSetupException(
          ("%s is %d, with %d for key and headers %d; max.message.bytes of the topic %s is %d:"
                  + " lower the one or raise the other")
              .formatted(
                  option,
                  maxBytes,
                  KafkaClient.RECORD_OVERHEAD,
                  batchBytes(),
                  topic,
                  maxMessageBytes),
          null);
    }
  }
}
