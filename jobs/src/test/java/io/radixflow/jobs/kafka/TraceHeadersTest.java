package io.radixflow.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.client.kafka.TraceHeaders;
import io.radixflow.protocol.record.TraceContext;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

class TraceHeadersTest {
  private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private static TraceContext read(String parent, String state) {
    Headers headers = new RecordHeaders();
    headers.add("other", "x".getBytes(UTF_8));
    if (parent != null) {
      headers.add("traceparent", parent.getBytes(UTF_8));
    }
    if (state != null) {
      headers.add("tracestate", state.getBytes(UTF_8));
    }
    return TraceHeaders.read(headers);
  }

  @Test
  void aContextIsReadAsItIsWritten() {
    for (String state : new String[] {null, "congo=t61rcWkgMzE"}) {
      TraceContext trace = read(PARENT, state);
      assertThat(trace).isEqualTo(new TraceContext(PARENT, state));
      assertThat(TraceHeaders.read(TraceHeaders.of(trace))).isEqualTo(trace);
    }
  }

  @Test
  void whatCannotBeATraceIsIgnored() {
    assertThat(read(null, "a=b")).isNull();
    assertThat(read("", null)).isNull();
    assertThat(read("x".repeat(129), null)).isNull();
    assertThat(read("00-é", null)).isNull();
    assertThat(read("00-\r\n", null)).isNull();
    assertThat(read(PARENT, "x".repeat(513))).isEqualTo(new TraceContext(PARENT, null));
    assertThat(TraceHeaders.of(null)).isNull();
  }

  @Test
  void anEventHasTheTraceOfItsRecord() throws Exception {
    EventDeserializer deserializer = new EventDeserializer(1 << 20, 1 << 20, true);
    deserializer.open(null);
    List<EventRecord> read = new ArrayList<>();
    for (TraceContext trace : new TraceContext[] {new TraceContext(PARENT, "a=b"), null}) {
      Headers headers = trace == null ? new RecordHeaders() : TraceHeaders.of(trace);
      byte[] json = "{\"type\":\"close\",\"session\":\"s\"}".getBytes(UTF_8);
      deserializer.deserialize(
          new ConsumerRecord<>(
              "events",
              0,
              7,
              1,
              TimestampType.CREATE_TIME,
              1,
              json.length,
              "s".getBytes(UTF_8),
              json,
              headers,
              java.util.Optional.empty()),
          new ListCollector<>(read));
    }
    assertThat(read.get(0).event().origin().trace()).isEqualTo(new TraceContext(PARENT, "a=b"));
    assertThat(read.get(1).event().origin().trace()).isNull();
  }
}
