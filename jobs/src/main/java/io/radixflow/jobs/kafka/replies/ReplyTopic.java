package io.radixflow.jobs.kafka.replies;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.jobs.event.ReplyLimiter;
import io.radixflow.jobs.kafka.KafkaClient;
import io.radixflow.jobs.kafka.TraceHeaders;
import io.radixflow.operators.flink.recovery.LostReplies;
import io.radixflow.operators.record.Reply;
import java.util.Set;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.HeaderProvider;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.util.function.SerializableFunction;
import org.apache.kafka.common.header.Headers;

/**
 * The topic of replies: {@link #sink} writes it exactly once, and {@link #search} finds what was
 * written and then aborted by the brokers. Travels in the job graph.
 */
public final class ReplyTopic implements LostReplies {
  private static final long serialVersionUID = 1L;

  /** The brokers' measure of a transaction's age may exceed the job's by this much. */
  private static final long MARGIN_MILLIS = 30_000;

  private final Settings settings;

  /** A record's key or value. */
  private record Bytes(SerializableFunction<Reply, byte[]> function)
      implements SerializationSchema<Reply> {
    @Override
    public byte[] serialize(Reply reply) {
      return function.apply(reply);
    }
  }

  /** The headers of a record. */
  private static final class TraceOf implements HeaderProvider<Reply> {
    private static final long serialVersionUID = 1L;

    @Override
    public Headers getHeaders(Reply reply) {
      return TraceHeaders.of(reply.trace());
    }
  }

  public ReplyTopic(Settings settings) {
    this.settings = settings;
  }

  /** Writes replies exactly once: read_committed consumers see them at the next checkpoint. */
  public Sink<Reply> sink() {
    int maxBytes = settings.get(RadixflowOptions.REPLY_MAX_BYTES);
    return new RepliesSink(
        KafkaSink.<Reply>builder()
            .setKafkaProducerConfig(KafkaClient.REPLIES.properties(settings))
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix(settings.get(RadixflowOptions.TRANSACTIONAL_ID_PREFIX))
            .setTransactionNamingStrategy(TransactionNamingStrategy.POOLING)
            .setRecordSerializer(
                KafkaRecordSerializationSchema.<Reply>builder()
                    .setTopic(name())
                    .setHeaderProvider(new TraceOf())
                    .setKeySerializationSchema(new Bytes(reply -> reply.session().getBytes(UTF_8)))
                    .setValueSerializationSchema(new Bytes(new ReplyLimiter(maxBytes)::write))
                    .build())
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
    return settings.get(RadixflowOptions.REPLIES_TOPIC);
  }

  Settings settings() {
    return settings;
  }

  private long transactionTimeoutMillis() {
    return settings.get(RadixflowOptions.TRANSACTION_TIMEOUT).toMillis();
  }
}
