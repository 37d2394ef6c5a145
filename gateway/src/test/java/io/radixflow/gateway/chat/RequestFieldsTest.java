package io.radixflow.gateway.chat;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.gateway.api.ReplyShapers;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Fields that shape a reply are obeyed or refused, never ignored. */
class RequestFieldsTest {
  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  @Test
  void everyFieldOfOtherServersIsServedRefusedOrKnownToShapeNothing() throws IOException {
    Set<String> unknown = new TreeSet<>();
    try (InputStream lists = getClass().getResourceAsStream("/request-fields.txt")) {
      String text = new String(lists.readAllBytes(), StandardCharsets.UTF_8);
      for (String line : text.lines().filter(each -> !each.startsWith("#")).toList()) {
        String[] words = line.split(" ");
        Set<String> served =
            words[0].endsWith("completion") ? TextRequest.SERVED : ChatRequest.SERVED;
        for (String field : List.of(words).subList(1, words.length)) {
          if (!served.contains(field)
              && !TextRequest.SERVED.contains(field)
              && !ReplyShapers.knows(field)) {
            unknown.add(field);
          }
        }
      }
    }
    assertThat(unknown).isEmpty();
  }

  @Test
  void aFieldShapesAReplyUnlessItsValueSaysTheSameAsNone() throws IOException {
    assertThat(shaping("{\"mirostat\":2,\"typical_p\":0.9,\"use_beam_search\":true}")).hasSize(3);
    assertThat(shaping("{\"skip_special_tokens\":false,\"add_generation_prompt\":false}"))
        .hasSize(2);
    assertThat(shaping("{\"truncation_side\":\"right\",\"thinking_budget_tokens\":0}")).hasSize(2);
    assertThat(shaping("{\"min_tokens\":1,\"grammar\":\"x\",\"best_of\":2}")).hasSize(3);
    assertThat(
            shaping(
                "{\"mirostat\":0,\"typical_p\":1.0,\"use_beam_search\":false,\"suffix\":\"\","
                    + "\"truncation_side\":\"left\",\"thinking_budget_tokens\":-1,"
                    + "\"skip_special_tokens\":true,\"min_tokens\":0,\"grammar\":null,"
                    + "\"bad_words\":[],\"length_penalty\":1,\"modalities\":[\"text\"],"
                    + "\"cache_prompt\":true,\"anything\":1}"))
        .isEmpty();
  }

  private static Set<String> shaping(String json) throws IOException {
    JsonNode body = new ObjectMapper().readTree(json);
    Set<String> names = new TreeSet<>();
    body.fields()
        .forEachRemaining(
            field -> {
              if (ReplyShapers.shapes(field.getKey(), field.getValue())) {
                names.add(field.getKey());
              }
            });
    return names;
  }

  @Test
  void everyApiRefusesByNameWhatItDoesNotServe() {
    String chat = "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]";
    String[][] requests = {
      {"/v1/chat/completions", chat},
      {"/v1/completions", "\"prompt\":\"x\""},
      {"/v1/messages", chat + ",\"max_tokens\":5"},
      {"/v1/responses", "\"input\":\"x\""}
    };
    for (String[] request : requests) {
      for (String field :
          List.of("\"mirostat\":2", "\"lora_path\":\"x\"", "\"stop_regex\":\"x\"")) {
        HttpResponse<String> response =
            gateway.send(gateway.post(request[0], "{" + request[1] + "," + field + "}")).join();
        assertThat(response.statusCode()).as("%s %s", request[0], field).isEqualTo(400);
        assertThat(response.body()).contains(field.substring(1, field.indexOf('"', 1)));
      }
    }
    assertThat(gateway.topics().hasEvents()).isFalse();
  }
}
