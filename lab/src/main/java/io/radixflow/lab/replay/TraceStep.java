package io.radixflow.lab.replay;

/** One operation of a trace and the cache after it. */
public record TraceStep(TraceOperation operation, TraceCounts counts) {}
