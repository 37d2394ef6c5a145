package io.radixflow.operators.flink;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/** A subtask of the serving operator is open; travels from it to the JobManager. */
record SubtaskOpened() implements OperatorEvent {}
