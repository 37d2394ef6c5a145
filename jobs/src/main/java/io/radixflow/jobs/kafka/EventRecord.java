package io.radixflow.jobs.kafka;

import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.topic.DeadLetter;

/**
 * The result of reading one record of the event topic; a Flink POJO. At least one of the two is not
 * null.
 *
 * @param event the event, valid or not, or null
 * @param deadLetter the record that could not be read, or null
 */
public record EventRecord(ConversationEvent event, DeadLetter deadLetter)
    implements ReadRecord<ConversationEvent> {}
