package io.radixflow.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.client.kafka.TraceHeaders;
import io.radixflow.protocol.event.EventParser;
import io.radixflow.protocol.event.ParsedEvent;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Origin;
import java.util.Arrays;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Reads records of the event topic. It never throws because of a record. A record whose key is not
 * its event's session becomes a dead letter, unless the job allows it, because Kafka keeps only the
 * order of records with the same key.
 */
final class EventDeserializer implements KafkaRecordDeserializationSchema<EventRecord> {

  private static final long serialVersionUID = 1L;

  private final int maxEventBytes;
  private final int maxDeadLetterBytes;
  private final boolean requireSessionKey;
  private transient EventParser parser;

  EventDeserializer(int maxEventBytes, int maxDeadLetterBytes, boolean requireSessionKey) {
    this.maxEventBytes = maxEventBytes;
    this.maxDeadLetterBytes = maxDeadLetterBytes;
    this.requireSessionKey = requireSessionKey;
  }

  @Override
  public void open(DeserializationSchema.InitializationContext context) {
    parser = new EventParser(maxEventBytes);
  }

  @Override
  public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<EventRecord> out) {
    Origin origin =
        new Origin(
            record.partition(),
            record.offset(),
            record.timestamp(),
            TraceHeaders.read(record.headers()));
    out.collect(check(record, parser.parse(record.value(), origin)));
  }

  private EventRecord check(ConsumerRecord<byte[], byte[]> record, ParsedEvent parsed) {
    ConversationEvent event = parsed.event();
    String wrongKey =
        event == null || !requireSessionKey ? null : wrongKey(record.key(), event.session());
    if (wrongKey != null) {
      return new EventRecord(
          null,
          DeadLetters.of(
              record, parsed.isValid() ? wrongKey : parsed.reason(), maxDeadLetterBytes));
    }
    return new EventRecord(
        event,
        parsed.unreadable() ? DeadLetters.of(record, parsed.reason(), maxDeadLetterBytes) : null);
  }

  /** Describes the fault of a record's key; null if the key is right. */
  private static String wrongKey(byte[] key, String session) {
    if (Arrays.equals(key, session.getBytes(UTF_8))) {
      return null;
    }
    return "the record's key "
        + (key == null ? "is missing" : "differs from the event's session")
        + "; it must be the session: the order of its events depends on it"
        + " (kafka.require-session-key=false allows other keys)";
  }

  @Override
  public TypeInformation<EventRecord> getProducedType() {
    return TypeInformation.of(EventRecord.class);
  }
}
