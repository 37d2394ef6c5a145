package io.radixflow.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.jobs.kafka.ControlRecord;
import io.radixflow.jobs.kafka.EventRecord;
import io.radixflow.protocol.event.EventParser;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.topic.DeadLetter;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordTypesTest {

  private static final SerializerConfigImpl NO_KRYO =
      new SerializerConfigImpl(new Configuration().set(PipelineOptions.GENERIC_TYPES, false));

  @ParameterizedTest
  @ValueSource(classes = {EventRecord.class, ControlRecord.class, DeadLetter.class})
  void recordsBetweenOperatorsArePojos(Class<?> type) {
    TypeInformation<?> info = TypeInformation.of(type);
    assertThat(info).isInstanceOf(PojoTypeInfo.class);
    assertThat(info.createSerializer(NO_KRYO)).isNotNull();
  }

  @Test
  void anEventSurvivesSerialization() throws Exception {
    String json =
        "{\"session\":\"s\",\"turn\":\"t\",\"stop\":[\"x\"],\"logit_bias\":{\"3\":1},"
            + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    EventRecord record =
        new EventRecord(
            new EventParser(1000)
                .parse(json.getBytes(StandardCharsets.UTF_8), new Origin(1, 2, 3))
                .event(),
            null);
    TypeSerializer<EventRecord> serializer =
        TypeInformation.of(EventRecord.class).createSerializer(NO_KRYO);
    DataOutputSerializer out = new DataOutputSerializer(64);
    serializer.serialize(record, out);
    EventRecord read = serializer.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
    assertThat(read).isEqualTo(record);
  }
}
