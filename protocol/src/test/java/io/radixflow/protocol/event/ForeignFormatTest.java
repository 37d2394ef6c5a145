package io.radixflow.protocol.event;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.protocol.record.Origin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ForeignFormatTest {
  private static final String EVENT =
      "{\"session\":\"s\",\"turn\":\"t\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  private static final Origin ORIGIN = new Origin(0, 0, 0, null);

  @ParameterizedTest
  @CsvSource({
    "00 00 00 00 07, 'Schema Registry''s wire format (a byte of 0, then the schema id 7)'",
    "00 00 01 00 00, the schema id 65536)",
    "00 ff ff ff ff 00, the schema id 4294967295)",
    "03 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10, AWS Glue Schema Registry",
    "1f 8b 08 00, it looks like gzip",
    "ac ed 00 05 74, a serialized Java object",
    "c3 01 0a 0b, it looks like Avro",
    "4f 62 6a 01, it looks like Avro"
  })
  void saysWhichSerializerWroteTheRecord(String prefix, String reason) {
    byte[] value = bytes(prefix, EVENT);
    assertThat(new EventParser(1 << 20).parse(value, ORIGIN).reason())
        .startsWith("the event cannot be read as JSON: ")
        .contains(reason)
        .doesNotContain("UTF-32");
    assertThat(new ControlParser().parse(bytes(prefix, "{\"type\":\"drain\"}")).reason())
        .startsWith("the control event cannot be read as JSON: ")
        .contains(reason);
  }

  @Test
  void saysOfOtherBytesWhatTheReaderSays() {
    assertThat(new EventParser(1 << 20).parse(bytes("", "{\"session\""), ORIGIN).reason())
        .contains("end-of-input");
    assertThat(ForeignFormat.of(new byte[0])).isNull();
    assertThat(ForeignFormat.of(new byte[1])).isNull();
  }

  private static byte[] bytes(String prefix, String text) {
    StringBuilder all = new StringBuilder();
    for (String each : prefix.isEmpty() ? new String[0] : prefix.split(" ")) {
      all.append((char) Integer.parseInt(each, 16));
    }
    return all.append(text).toString().getBytes(ISO_8859_1);
  }
}
