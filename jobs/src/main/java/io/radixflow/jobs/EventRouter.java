package io.radixflow.jobs;

import io.radixflow.jobs.event.DeadLetter;
import io.radixflow.jobs.kafka.EventRecord;
import io.radixflow.operators.record.ConversationEvent;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/** Passes events on, valid or not; dead letters leave by the side. */
final class EventRouter extends ProcessFunction<EventRecord, ConversationEvent> {
  private static final long serialVersionUID = 1L;

  static final OutputTag<DeadLetter> DEAD_LETTERS =
      new OutputTag<>("dead-letters", TypeInformation.of(DeadLetter.class));

  @Override
  public void processElement(
      EventRecord record, Context context, Collector<ConversationEvent> out) {
    if (record.event() != null) {
      out.collect(record.event());
    }
    if (record.deadLetter() != null) {
      context.output(DEAD_LETTERS, record.deadLetter());
    }
  }
}
