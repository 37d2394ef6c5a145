package io.radixflow.jobs.kafka.replies;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.protocol.record.ConversationEntry;
import io.radixflow.protocol.topic.ConversationEntryWriter;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetIdentifier;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacetProvider;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.kafka.clients.producer.ProducerRecord;

/** The topic of the conversation index. */
public final class IndexTopic {

  private IndexTopic() {}

  /**
   * Returns a sink that writes entries exactly once; null if the index is off. A checkpoint commits
   * its transactions together with the transactions of replies.
   */
  public static Sink<ConversationEntry> sink(Settings settings) {
    if (!settings.get(SharedConfig.INDEX)) {
      return null;
    }
    return new TransactionalSink<>(
        KafkaSink.<ConversationEntry>builder()
            .setKafkaProducerConfig(KafkaClient.INDEX.properties(settings))
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix(settings.get(KafkaConfig.TRANSACTIONAL_ID_PREFIX) + "-index")
            .setTransactionNamingStrategy(TransactionNamingStrategy.POOLING)
            .setRecordSerializer(new Entries(settings.get(KafkaConfig.INDEX_TOPIC)))
            .build());
  }

  private record Entries(String topic)
      implements KafkaRecordSerializationSchema<ConversationEntry>, KafkaDatasetFacetProvider {

    /** Returns the topic; Flink's sink needs it to find its transactions. */
    @Override
    public Optional<KafkaDatasetFacet> getKafkaDatasetFacet() {
      return Optional.of(
          new DefaultKafkaDatasetFacet(DefaultKafkaDatasetIdentifier.ofTopics(List.of(topic))));
    }

    @Override
    public ProducerRecord<byte[], byte[]> serialize(
        ConversationEntry entry, KafkaSinkContext sink, Long timestamp) {
      return new ProducerRecord<>(
          topic, ConversationEntryWriter.key(entry), ConversationEntryWriter.value(entry));
    }
  }
}
