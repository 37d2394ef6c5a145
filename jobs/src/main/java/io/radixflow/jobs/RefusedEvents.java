package io.radixflow.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.jobs.event.DeadLetter;
import io.radixflow.jobs.event.EventWriter;
import io.radixflow.operators.flink.RejectedEvent;
import io.radixflow.operators.session.ConversationEvent;
import org.apache.flink.api.common.functions.MapFunction;

/** Makes dead letters of events that the operator refused and that have no turn to answer. */
final class RefusedEvents implements MapFunction<RejectedEvent, DeadLetter> {
  private static final long serialVersionUID = 1L;

  private final String topic;

  RefusedEvents(String topic) {
    this.topic = topic;
  }

  @Override
  public DeadLetter map(RejectedEvent rejected) {
    ConversationEvent event = rejected.event();
    byte[] value = EventWriter.write(event);
    return new DeadLetter(
        topic,
        event.origin().partition(),
        event.origin().offset(),
        event.origin().timestamp(),
        event.session().getBytes(UTF_8),
        value,
        value.length,
        rejected.reason());
  }
}
