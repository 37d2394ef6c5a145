package io.radixflow.jobs;

import io.radixflow.jobs.config.Settings;
import io.radixflow.jobs.event.DeadLetter;
import io.radixflow.jobs.kafka.ControlRecord;
import io.radixflow.jobs.kafka.EventRecord;
import io.radixflow.jobs.kafka.KafkaEndpoints;
import io.radixflow.operators.session.Reply;
import io.radixflow.operators.session.ReplyDelta;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.source.Source;

/** Where the job reads and writes; tests bring their own. */
public record JobEndpoints(
    Source<EventRecord, ?, ?> events,
    Source<ControlRecord, ?, ?> control,
    Sink<Reply> replies,
    Sink<ReplyDelta> deltas,
    Sink<DeadLetter> deadLetters) {

  /** The topics that the settings name. */
  public static JobEndpoints kafka(Settings settings) {
    KafkaEndpoints kafka = new KafkaEndpoints(settings);
    return new JobEndpoints(
        kafka.events(), kafka.control(), kafka.replies(), kafka.deltas(), kafka.deadLetters());
  }
}
