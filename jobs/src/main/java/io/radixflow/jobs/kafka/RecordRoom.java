package io.radixflow.jobs.kafka;

import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaClient;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The largest record that a sink may write, from its topic's configuration when the sink starts. If
 * the brokers refuse a record, the job fails and restarts with the current limit.
 *
 * @param topic its name
 * @param maxBytes its {@code max.message.bytes}; {@link Integer#MAX_VALUE} if it is not known
 */
public record RecordRoom(String topic, int maxBytes) {
  private static final Logger LOG = LoggerFactory.getLogger(RecordRoom.class);
  private static final long WAIT_SECONDS = 60;

  /** The most bytes of the headers of a batch of one record and of the record. */
  private static final int BATCH_BYTES = 100;

  /** Two lengths. */
  private static final int HEADER_BYTES = 10;

  /**
   * Asks the brokers and waits for their answer. If they refuse to answer, the topic's limit is
   * unknown.
   */
  public static RecordRoom ask(Settings settings, String topic) {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    try (Admin admin = KafkaClient.ADMIN.admin(settings)) {
      ConfigEntry limit =
          admin
              .describeConfigs(List.of(resource))
              .all()
              .get(WAIT_SECONDS, TimeUnit.SECONDS)
              .get(resource)
              .get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG);
      return new RecordRoom(
          topic, limit == null ? Integer.MAX_VALUE : Integer.parseInt(limit.value()));
    } catch (ExecutionException | TimeoutException | KafkaException | NumberFormatException e) {
      LOG.warn(
          "max.message.bytes of topic {} is not known; a record that is larger stops the job."
              + " Allow DescribeConfigs on the topic",
          topic,
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return new RecordRoom(topic, Integer.MAX_VALUE);
  }

  /** Warns if an option allows records that are too large for the topic. */
  public RecordRoom warnBelow(String option, int optionBytes) {
    if (maxBytes < optionBytes + KafkaClient.RECORD_OVERHEAD) {
      LOG.warn(
          "max.message.bytes of topic {} is {}, and {} is {}, with {} for key and headers {}:"
              + " records that do not fit are cut. Raise the one or lower the other",
          topic,
          maxBytes,
          option,
          optionBytes,
          KafkaClient.RECORD_OVERHEAD,
          optionBytes + KafkaClient.RECORD_OVERHEAD);
    }
    return this;
  }

  /** Returns the most bytes of a record's value; negative if there is no room for a value. */
  public int forValue(byte[] key, Headers headers) {
    int others = BATCH_BYTES + (key == null ? 0 : key.length);
    for (Header header : headers == null ? new Header[0] : headers.toArray()) {
      others += HEADER_BYTES + header.key().length();
      others += header.value() == null ? 0 : header.value().length;
    }
    return maxBytes - others;
  }
}
