package io.radixflow.jobs.kafka;

import io.radixflow.jobs.event.DeadLetter;
import io.radixflow.operators.record.ConversationEvent;

/**
 * What one record of the event topic turned out to be; a Flink POJO. At least one of the two is
 * there.
 *
 * @param event the event, valid or not, or null
 * @param deadLetter what could not be read, or null
 */
public record EventRecord(ConversationEvent event, DeadLetter deadLetter) {}
