package io.radixflow.protocol.record;

/**
 * The trace that an event belongs to, as W3C Trace Context has it; a Flink POJO. It is passed on
 * and never looked into.
 *
 * @param traceparent the header of this name
 * @param tracestate the header of this name, or null
 */
public record TraceContext(String traceparent, String tracestate) {}
