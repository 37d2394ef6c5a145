package io.radixflow.jobs.kafka;

import io.radixflow.jobs.event.EventParser;
import io.radixflow.jobs.event.ParsedEvent;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.Origin;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Reads the event topic; no record makes it throw. */
final class EventDeserializer implements KafkaRecordDeserializationSchema<EventRecord> {
  private static final long serialVersionUID = 1L;

  private final int maxEventBytes;
  private final int maxDeadLetterBytes;
  private transient EventParser parser;

  EventDeserializer(int maxEventBytes, int maxDeadLetterBytes) {
    this.maxEventBytes = maxEventBytes;
    this.maxDeadLetterBytes = maxDeadLetterBytes;
  }

  @Override
  public void open(DeserializationSchema.InitializationContext context) {
    parser = new EventParser(maxEventBytes);
  }

  @Override
  public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<EventRecord> out) {
    Origin origin = new Origin(record.partition(), record.offset(), record.timestamp());
    ParsedEvent parsed = parser.parse(record.value(), origin);
    ConversationEvent event = parsed.event();
    out.collect(
        new EventRecord(
            event == null ? null : event.withSource(record.value()),
            parsed.unreadable()
                ? DeadLetters.of(record, parsed.reason(), maxDeadLetterBytes)
                : null));
  }

  @Override
  public TypeInformation<EventRecord> getProducedType() {
    return TypeInformation.of(EventRecord.class);
  }
}
