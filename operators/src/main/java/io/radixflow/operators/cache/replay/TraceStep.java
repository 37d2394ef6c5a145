package io.radixflow.operators.cache.replay;

/** One operation of a trace and the cache after it. */
public record TraceStep(TraceOperation operation, TraceCounts counts) {}
