package io.radixflow.jobs.kafka;

import io.radixflow.jobs.event.ReplyWriter;
import io.radixflow.operators.record.Reply;
import org.apache.flink.api.common.serialization.SerializationSchema;

/** Writes replies within the size that their topic takes. */
final class ReplyBytes implements SerializationSchema<Reply> {
  private static final long serialVersionUID = 1L;

  private final int maxBytes;
  private transient ReplyWriter writer;

  ReplyBytes(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  @Override
  public void open(InitializationContext context) {
    writer = new ReplyWriter(maxBytes);
  }

  @Override
  public byte[] serialize(Reply reply) {
    return writer.write(reply);
  }
}
