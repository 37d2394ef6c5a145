package io.radixflow.jobs;

import io.radixflow.jobs.kafka.ReadRecord;
import io.radixflow.protocol.topic.DeadLetter;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/** Emits events, valid or not, and dead letters as a side output. */
final class EventRouter<R extends ReadRecord<E>, E> extends ProcessFunction<R, E> {
  private static final long serialVersionUID = 1L;

  static final OutputTag<DeadLetter> DEAD_LETTERS =
      new OutputTag<>("dead-letters", TypeInformation.of(DeadLetter.class));

  @Override
  public void processElement(R record, Context context, Collector<E> out) {
    if (record.event() != null) {
      out.collect(record.event());
    }
    if (record.deadLetter() != null) {
      context.output(DEAD_LETTERS, record.deadLetter());
    }
  }
}
