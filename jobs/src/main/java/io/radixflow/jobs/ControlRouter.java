package io.radixflow.jobs;

import io.radixflow.jobs.kafka.ControlRecord;
import io.radixflow.operators.record.ControlEvent;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/** Passes valid control events on; dead letters leave by the side. */
final class ControlRouter extends ProcessFunction<ControlRecord, ControlEvent> {
  private static final long serialVersionUID = 1L;

  @Override
  public void processElement(ControlRecord record, Context context, Collector<ControlEvent> out) {
    if (record.event() != null) {
      out.collect(record.event());
    }
    if (record.deadLetter() != null) {
      context.output(EventRouter.DEAD_LETTERS, record.deadLetter());
    }
  }
}
