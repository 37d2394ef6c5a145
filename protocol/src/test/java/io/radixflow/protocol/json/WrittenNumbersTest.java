package io.radixflow.protocol.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WrittenNumbersTest {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .build();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1e400",
        "-1E-400",
        "1.0",
        "-0",
        "-0.0",
        "0.1000",
        "1E5",
        "0",
        "7",
        "-12",
        "9223372036854775808",
        "123456789012345678901234567890",
        "0.30000000000000004000"
      })
  void aNumberIsWrittenAsItWasRead(String number) throws IOException {
    String text = "{\"a\":[" + number + ",{\"b\":" + number + "}]}";
    assertThat(WrittenNumbers.read(MAPPER, text).toString()).isEqualTo(text);
    JsonNode tree = WrittenNumbers.read(MAPPER, text.getBytes(StandardCharsets.UTF_8));
    assertThat(MAPPER.writeValueAsString(tree)).isEqualTo(text);
    assertThat(MAPPER.writeValueAsString(MAPPER.createObjectNode().set("c", tree)))
        .isEqualTo("{\"c\":" + text + "}");
    JsonNode usual = MAPPER.readTree(text).get("a").get(0);
    assertThat(tree.get("a").get(0).doubleValue()).isEqualTo(usual.doubleValue());
    assertThat(tree.get("a").get(0).isIntegralNumber()).isEqualTo(usual.isIntegralNumber());
  }

  @Test
  void otherValuesAndFaultsAreThoseOfTheMapper() throws IOException {
    String text = "{\"a\":[null,true,\"1.0\",{},[]]}";
    assertThat(WrittenNumbers.read(MAPPER, text)).isEqualTo(MAPPER.readTree(text));
    assertThat(WrittenNumbers.read(MAPPER, " \n").isMissingNode()).isTrue();
    assertThat(WrittenNumbers.read(MAPPER, "[NaN,-Infinity]"))
        .isEqualTo(MAPPER.readTree("[NaN,-Infinity]"));
    assertThat(WrittenNumbers.read(MAPPER, " ")).isEqualTo(MAPPER.readTree(" "));
    assertThat(WrittenNumbers.read(MAPPER, "null")).isEqualTo(MAPPER.readTree("null"));
    assertThatThrownBy(() -> WrittenNumbers.read(MAPPER, "{} {}"))
        .isInstanceOf(JsonProcessingException.class);
    assertThatThrownBy(() -> WrittenNumbers.read(MAPPER, "{\"a\":"))
        .isInstanceOf(JsonProcessingException.class);
  }
}
