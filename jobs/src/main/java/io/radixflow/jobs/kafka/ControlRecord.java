package io.radixflow.jobs.kafka;

import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.topic.DeadLetter;

/**
 * The result of reading one record of the control topic; a Flink POJO.
 *
 * @param event a valid control event, or null
 * @param deadLetter the record that could not be read, or null
 */
public record ControlRecord(ControlEvent event, DeadLetter deadLetter)
    implements ReadRecord<ControlEvent> {}
