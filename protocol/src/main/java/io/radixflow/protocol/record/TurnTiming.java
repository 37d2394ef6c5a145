package io.radixflow.protocol.record;

/**
 * How long a turn took in the attempt that generates its reply; a Flink POJO. Times are in
 * milliseconds. They are differences of the system clock, which may be set.
 *
 * @param promptDone tokens of the prompt that were cached or have been computed
 * @param queued time from the acceptance of the turn until the engine admitted it
 * @param prompt time from its admission until its first token, or until now
 * @param reply time from its first token until its end, or until now
 */
public record TurnTiming(int promptDone, long queued, long prompt, long reply) {}
