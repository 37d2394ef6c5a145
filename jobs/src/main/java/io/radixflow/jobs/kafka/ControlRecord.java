package io.radixflow.jobs.kafka;

import io.radixflow.jobs.event.DeadLetter;
import io.radixflow.operators.record.ControlEvent;

/**
 * What one record of the control topic turned out to be; a Flink POJO.
 *
 * @param event a valid control event, or null
 * @param deadLetter what could not be read, or null
 */
public record ControlRecord(ControlEvent event, DeadLetter deadLetter) {}
