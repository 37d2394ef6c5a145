package io.radixflow.jobs.kafka.replies;

import java.io.IOException;
import java.util.Collection;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.SupportsPostCommitTopology;
import org.apache.flink.streaming.api.datastream.DataStream;

/** Flink's exactly-once sink, with {@link UnknownTransactionsCommitter} as its committer. */
final class TransactionalSink<T>
    implements Sink<T>,
        SupportsWriterState<T, KafkaWriterState>,
        SupportsCommitter<KafkaCommittable>,
        SupportsPostCommitTopology<KafkaCommittable> {
  private static final long serialVersionUID = 1L;

  private final KafkaSink<T> kafka;

  TransactionalSink(KafkaSink<T> kafka) {
    this.kafka = kafka;
  }

  @Override
  public SinkWriter<T> createWriter(WriterInitContext context) throws IOException {
    Sink<T> sink = kafka;
    return sink.createWriter(context);
  }

  @Override
  public StatefulSinkWriter<T, KafkaWriterState> restoreWriter(
      WriterInitContext context, Collection<KafkaWriterState> recovered) throws IOException {
    SupportsWriterState<T, KafkaWriterState> sink = kafka;
    return sink.restoreWriter(context, recovered);
  }

  @Override
  public SimpleVersionedSerializer<KafkaWriterState> getWriterStateSerializer() {
    return kafka.getWriterStateSerializer();
  }

  @Override
  public Committer<KafkaCommittable> createCommitter(CommitterInitContext context) {
    return new UnknownTransactionsCommitter(kafka.createCommitter(context));
  }

  @Override
  public SimpleVersionedSerializer<KafkaCommittable> getCommittableSerializer() {
    return kafka.getCommittableSerializer();
  }

  @Override
  public void addPostCommitTopology(DataStream<CommittableMessage<KafkaCommittable>> committables) {
    kafka.addPostCommitTopology(committables);
  }
}
