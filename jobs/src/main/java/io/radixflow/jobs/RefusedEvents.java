package io.radixflow.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.RejectedEvent;
import io.radixflow.protocol.topic.DeadLetter;
import io.radixflow.protocol.topic.EventWriter;
import org.apache.flink.api.common.functions.MapFunction;

/**
 * Makes dead letters of events that the operator refused and that have no turn to answer, and of
 * events whose turn failed, within the size limit of the dead-letter topic. The value is the event
 * written again, not the original bytes. Partition, offset and timestamp are -1 if the origin of
 * the event is not known.
 */
final class RefusedEvents implements MapFunction<RejectedEvent, DeadLetter> {
  private static final long serialVersionUID = 1L;
  private static final Origin UNKNOWN = new Origin(-1, -1, -1);

  private final String topic;
  private final int maxBytes;

  RefusedEvents(String topic, int maxBytes) {
    this.topic = topic;
    this.maxBytes = maxBytes;
  }

  @Override
  public DeadLetter map(RejectedEvent rejected) {
    ConversationEvent event = rejected.event();
    Origin origin = event.origin() == null ? UNKNOWN : event.origin();
    byte[] value = EventWriter.write(event);
    return new DeadLetter(
            topic,
            origin.partition(),
            origin.offset(),
            origin.timestamp(),
            event.session().getBytes(UTF_8),
            value,
            value.length,
            rejected.reason())
        .within(maxBytes);
  }
}
