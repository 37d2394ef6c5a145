package io.radixflow.jobs.kafka;

import io.radixflow.protocol.event.ControlParser;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Reads records of the control topic. It never throws because of a record. */
final class ControlDeserializer implements KafkaRecordDeserializationSchema<ControlRecord> {
  private static final long serialVersionUID = 1L;

  private final int maxDeadLetterBytes;
  private transient ControlParser parser;

  ControlDeserializer(int maxDeadLetterBytes) {
    this.maxDeadLetterBytes = maxDeadLetterBytes;
  }

  @Override
  public void open(DeserializationSchema.InitializationContext context) {
    parser = new ControlParser();
  }

  @Override
  public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<ControlRecord> out) {
    ControlParser.Parsed parsed = parser.parse(record.value());
    out.collect(
        new ControlRecord(
            parsed.event(),
            parsed.event() == null
                ? DeadLetters.of(record, parsed.reason(), maxDeadLetterBytes)
                : null));
  }

  @Override
  public TypeInformation<ControlRecord> getProducedType() {
    return TypeInformation.of(ControlRecord.class);
  }
}
