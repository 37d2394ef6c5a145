package io.radixflow.client.kafka;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.radixflow.protocol.record.TraceContext;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * Reads and writes the trace context of a record's headers. A header that is not valid W3C Trace
 * Context is ignored.
 */
public final class TraceHeaders {
  static final String TRACEPARENT = "traceparent";
  static final String TRACESTATE = "tracestate";
  private static final int MAX_TRACEPARENT = 128;
  private static final int MAX_TRACESTATE = 512;

  private TraceHeaders() {}

  /** Returns the trace context; null if there is none. */
  public static TraceContext read(Headers headers) {
    String parent = text(headers.lastHeader(TRACEPARENT), MAX_TRACEPARENT);
    return parent == null
        ? null
        : new TraceContext(parent, text(headers.lastHeader(TRACESTATE), MAX_TRACESTATE));
  }

  /** Returns the headers of a record; null if there is no context. */
  public static Headers of(TraceContext trace) {
    if (trace == null) {
      return null;
    }
    RecordHeaders headers = new RecordHeaders();
    headers.add(TRACEPARENT, trace.traceparent().getBytes(US_ASCII));
    if (trace.tracestate() != null) {
      headers.add(TRACESTATE, trace.tracestate().getBytes(US_ASCII));
    }
    return headers;
  }

  private static String text(Header header, int max) {
    byte[] value = header == null ? null : header.value();
    if (value == null || value.length == 0 || value.length > max) {
      return null;
    }
    for (byte each : value) {
      if (each < ' ' || each > '~') {
        return null;
      }
    }
    return new String(value, US_ASCII);
  }
}
