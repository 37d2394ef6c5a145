package io.radixflow.protocol.record;

/**
 * The trace of an event in the form of W3C Trace Context; a Flink POJO. It is passed on unread.
 *
 * @param traceparent the header of this name
 * @param tracestate the header of this name, or null
 */
public record TraceContext(String traceparent, String tracestate) {}
