package io.radixflow.jobs.kafka.replies;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.operators.flink.recovery.LostReplies;
import io.radixflow.protocol.record.Reply;
import java.util.Set;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;

/**
 * The topic of replies. {@link #sink} writes it exactly once, and {@link #search} finds replies
 * whose transactions the brokers aborted. It travels in the job graph.
 */
public final class ReplyTopic implements LostReplies {
  private static final long serialVersionUID = 1L;

  /** Tolerance between the brokers' and the job's measure of a transaction's age. */
  private static final long MARGIN_MILLIS = 30_000;

  private final Settings settings;

  public ReplyTopic(Settings settings) {
    this.settings = settings;
  }

  /** Writes replies exactly once: read_committed consumers see them at the next checkpoint. */
  public Sink<Reply> sink() {
    return new TransactionalSink<>(
        KafkaSink.<Reply>builder()
            .setKafkaProducerConfig(KafkaClient.REPLIES.properties(settings))
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix(settings.get(KafkaConfig.TRANSACTIONAL_ID_PREFIX))
            .setTransactionNamingStrategy(TransactionNamingStrategy.POOLING)
            .setRecordSerializer(new ReplyRecords(settings))
            .build());
  }

  @Override
  public long commitMillis() {
    return transactionTimeoutMillis() - MARGIN_MILLIS;
  }

  @Override
  public Search search(Set<Id> wanted, long since) {
    return ReplySearch.start(this, wanted, since);
  }

  String name() {
    return settings.get(KafkaConfig.REPLIES_TOPIC);
  }

  Settings settings() {
    return settings;
  }

  private long transactionTimeoutMillis() {
    return settings.get(KafkaConfig.TRANSACTION_TIMEOUT).toMillis();
  }
}
