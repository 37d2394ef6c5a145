package io.radixflow.jobs;

import io.radixflow.client.config.Settings;
import io.radixflow.engine.KvEventSink;
import io.radixflow.jobs.kafka.ControlRecord;
import io.radixflow.jobs.kafka.EventRecord;
import io.radixflow.jobs.kafka.KafkaEndpoints;
import io.radixflow.jobs.kafka.replies.IndexTopic;
import io.radixflow.jobs.kafka.replies.ReplyTopic;
import io.radixflow.jobs.kvevents.KvEventsPublisher;
import io.radixflow.operators.flink.recovery.LostReplies;
import io.radixflow.protocol.record.ConversationEntry;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.topic.DeadLetter;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.source.Source;

/**
 * The sources and sinks of the job; tests use their own.
 *
 * @param lostReplies finds replies that the sink has lost; null if the sink cannot lose replies
 * @param kvEvents where the engines publish the content of their caches; null if they do not
 */
public record JobEndpoints(
    Source<EventRecord, ?, ?> events,
    Source<ControlRecord, ?, ?> control,
    Sinks sinks,
    LostReplies lostReplies,
    KvEventSink.Factory kvEvents) {

  /**
   * The sinks of the job.
   *
   * @param index takes the entries of the conversation index; null if there is no index
   */
  public record Sinks(
      Sink<Reply> replies,
      Sink<ReplyDelta> deltas,
      Sink<DeadLetter> deadLetters,
      Sink<ConversationEntry> index) {}

  /** Returns the endpoints for the topics that the settings name. */
  public static JobEndpoints kafka(Settings settings) {
    KafkaEndpoints kafka = new KafkaEndpoints(settings);
    ReplyTopic replies = new ReplyTopic(settings);
    return new JobEndpoints(
        kafka.events(),
        kafka.control(),
        new Sinks(replies.sink(), kafka.deltas(), kafka.deadLetters(), IndexTopic.sink(settings)),
        replies,
        KvEventsPublisher.factory(settings));
  }
}
