package io.radixflow.gateway.chat;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TokenizeTest {

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private HttpResponse<String> post(String path, String body) {
    return gateway.send(gateway.post(path, body)).join();
  }

  @Test
  void tokensOfATextAreTheTextAgain() {
    for (String field : List.of("prompt", "content")) {
      String body = "{\"" + field + "\":\"Hello, w\u00f6rld\"}";
      JsonNode tokens = GatewayFixture.json(post("/tokenize", body).body());
      assertThat(tokens.at("/count").asInt()).isPositive().isEqualTo(tokens.at("/tokens").size());
      JsonNode text =
          GatewayFixture.json(
              post("/detokenize", "{\"tokens\":" + tokens.at("/tokens") + "}").body());
      assertThat(text.at("/prompt").asText()).isEqualTo("Hello, w\u00f6rld");
      assertThat(text.at("/content").asText()).isEqualTo("Hello, w\u00f6rld");
    }
  }

  /** The simulated model's tokens are bytes. */
  @Test
  void piecesHaveTheTextOfATokenOrItsBytes() {
    String pieces = post("/tokenize", "{\"content\":\"a\u00f6\",\"with_pieces\":true}").body();
    JsonNode tokens = GatewayFixture.json(pieces).at("/tokens");
    assertThat(tokens.findValues("piece").toString()).isEqualTo("[\"a\", [195], [182]]");
    assertThat(tokens.findValues("id").toString())
        .isEqualTo(
            GatewayFixture.json(post("/tokenize", "{\"content\":\"a\u00f6\"}").body())
                .at("/tokens")
                .toString()
                .replace(",", ", "));
  }

  @Test
  void tokensHaveTheirTextsIfAskedAndSpecialTokensMayBeLeftOut() {
    for (String special :
        List.of("", ",\"add_special_tokens\":true", ",\"add_special_tokens\":false")) {
      HttpResponse<String> response =
          post(
              "/tokenize",
              "{\"prompt\":\"a\u00f6<|im_end|>\",\"return_token_strs\":true" + special + "}");
      assertThat(response.headers().firstValue("X-Radixflow-Ignored")).isEmpty();
      assertThat(GatewayFixture.json(response.body()).at("/token_strs").toString())
          .isEqualTo("[\"a\",\"\\\\xc3\",\"\\\\xb6\",\"<|im_end|>\"]");
    }
    String messages = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]";
    assertThat(count(messages + ",\"add_special_tokens\":true}")).isEqualTo(count(messages + "}"));
    assertThat(count(messages + ",\"add_special_tokens\":false}")).isEqualTo(count(messages + "}"));
  }

  @Test
  void messagesAreTokenizedAsTheirPrompt() {
    String messages = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";
    int whole = GatewayFixture.json(post("/tokenize", messages).body()).at("/count").asInt();
    int text =
        GatewayFixture.json(post("/tokenize", "{\"prompt\":\"Hi\"}").body()).at("/count").asInt();
    assertThat(whole).isGreaterThan(text);
  }

  @Test
  void messagesAreTokenizedWithTheEndThatARequestAsksFor() {
    String user = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}";
    JsonNode opened = GatewayFixture.json(post("/tokenize", user + "]}").body());
    int closed = count(user + "],\"add_generation_prompt\":false}");
    int continued =
        count(
            user
                + ",{\"role\":\"assistant\",\"content\":\"Yo\"}],"
                + "\"continue_final_message\":true,\"add_generation_prompt\":false}");
    assertThat(opened.at("/max_model_len").asInt()).isPositive();
    assertThat(closed).isLessThan(opened.at("/count").asInt());
    assertThat(continued).isEqualTo(opened.at("/count").asInt() + 2);
  }

  private int count(String body) {
    return GatewayFixture.json(post("/tokenize", body).body()).at("/count").asInt();
  }

  @Test
  void wrongRequestsAreTheClientsErrors() {
    for (String body : List.of("{}", "{\"prompt\":5}", "{\"messages\":[]}", "{\"messages\":7}")) {
      assertThat(post("/tokenize", body).statusCode()).as(body).isEqualTo(400);
    }
    for (String tokens : List.of("null", "7", "[-1]", "[2147483647]", "[\"a\"]", "[1.5]")) {
      assertThat(post("/detokenize", "{\"tokens\":" + tokens + "}").statusCode())
          .as(tokens)
          .isEqualTo(400);
    }
  }
}
