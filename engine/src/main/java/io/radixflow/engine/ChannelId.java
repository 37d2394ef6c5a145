package io.radixflow.engine;

/**
 * The consumer of a channel.
 *
 * @param job names the job and the operator in it, or the command outside Flink
 * @param subtask subtask index of the operator, 0 outside Flink
 * @param attempt a number that grows with every restart of the subtask; fences its predecessors
 */
public record ChannelId(String job, int subtask, long attempt) {}
