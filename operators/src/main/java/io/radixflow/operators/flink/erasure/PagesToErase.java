package io.radixflow.operators.flink.erasure;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * Pages that all engines have to erase; travels from a subtask through the JobManager to all.
 *
 * @param key names the erasure
 * @param names digests of the pages in a row, none before its parent's
 */
public record PagesToErase(String key, byte[] names) implements OperatorEvent {}
