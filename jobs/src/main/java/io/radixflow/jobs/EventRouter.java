package io.radixflow.jobs;

import io.radixflow.jobs.event.DeadLetter;
import io.radixflow.jobs.kafka.EventRecord;
import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.Reply;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/** Passes valid events on; rejections and dead letters leave by the side. */
final class EventRouter extends ProcessFunction<EventRecord, ConversationEvent> {
  private static final long serialVersionUID = 1L;

  static final OutputTag<Reply> REJECTIONS =
      new OutputTag<>("rejections", TypeInformation.of(Reply.class));
  static final OutputTag<DeadLetter> DEAD_LETTERS =
      new OutputTag<>("dead-letters", TypeInformation.of(DeadLetter.class));

  @Override
  public void processElement(
      EventRecord record, Context context, Collector<ConversationEvent> out) {
    if (record.event() != null) {
      out.collect(record.event());
    }
    if (record.rejection() != null) {
      context.output(REJECTIONS, record.rejection());
    }
    if (record.deadLetter() != null) {
      context.output(DEAD_LETTERS, record.deadLetter());
    }
  }
}
