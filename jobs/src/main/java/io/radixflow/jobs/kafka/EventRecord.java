package io.radixflow.jobs.kafka;

import io.radixflow.jobs.event.DeadLetter;
import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.Reply;

/**
 * What one record of the event topic turned out to be; a Flink POJO. Either the event is there, or
 * at least one of the others.
 *
 * @param event a valid event, or null
 * @param rejection the answer to an invalid one, or null
 * @param deadLetter what could not be read, or null
 */
public record EventRecord(ConversationEvent event, Reply rejection, DeadLetter deadLetter) {}
