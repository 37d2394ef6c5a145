package io.radixflow.text.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.text.jinja.JinjaTemplate;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Cases of own-cases.jsonl, rendered by transformers and Jinja2. */
class OwnTemplatesConformanceTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  static List<JsonNode> cases() throws IOException {
    return read("own-cases.jsonl").lines().map(OwnTemplatesConformanceTest::parse).toList();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void everyCaseIsRenderedAsByTransformers(JsonNode line) throws IOException {
    JinjaRenderer renderer = new JinjaRenderer(read(line.get("template").textValue()), Map.of());
    if (line.has("expected")) {
      assertThat(render(renderer, line)).isEqualTo(line.get("expected").textValue());
    } else {
      assertThatThrownBy(() -> render(renderer, line)).isInstanceOf(ChatTemplateException.class);
    }
  }

  private static String render(JinjaRenderer renderer, JsonNode line) {
    Map<String, Object> variables = new HashMap<>();
    JSON.convertValue(line.get("kwargs"), Map.class)
        .forEach((name, value) -> variables.put((String) name, value));
    variables.put("bos_token", line.get("bos_token").textValue());
    variables.put("eos_token", line.get("eos_token").textValue());
    return renderer.render(
        JSON.convertValue(line.get("messages"), List.class),
        JSON.convertValue(line.get("tools"), List.class),
        variables,
        LocalDate.parse(line.get("date").textValue()).atStartOfDay());
  }

  private static JsonNode parse(String line) {
    try {
      return JSON.readTree(line);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String read(String name) throws IOException {
    try (InputStream stream = JinjaTemplate.class.getResourceAsStream(name)) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
