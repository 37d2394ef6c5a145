package io.radixflow.gateway.responses;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

class UntrustedRequestProperties {

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private static final String[] NAMES = {
    "background",
    "content",
    "conversation",
    "format",
    "id",
    "include",
    "input",
    "instructions",
    "logit_bias",
    "max_output_tokens",
    "metadata",
    "model",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "role",
    "seed",
    "stop",
    "store",
    "stream",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "ttl",
    "type",
    "user",
    "nonsense",
    "\uD800"
  };

  private static final String[] TEXTS = {
    "",
    "a",
    "user",
    "developer",
    "message",
    "input_text",
    "text",
    "auto",
    "24h",
    "99999d",
    "\u0000",
    "\uD800",
    "reasoning",
    "refusal",
    "input_image",
    "none"
  };

  @Provide
  Arbitrary<ObjectNode> bodies() {
    return object(value(3));
  }

  private static Arbitrary<ObjectNode> object(Arbitrary<JsonNode> values) {
    return Combinators.combine(Arbitraries.of(NAMES), values)
        .as((name, value) -> JSON.objectNode().<ObjectNode>set(name, value))
        .list()
        .ofMaxSize(5)
        .map(
            fields -> {
              ObjectNode object = JSON.objectNode();
              fields.forEach(object::setAll);
              return object;
            });
  }

  private static Arbitrary<JsonNode> value(int depth) {
    Arbitrary<JsonNode> plain =
        Arbitraries.oneOf(
            Arbitraries.of(TEXTS).map(JSON::textNode),
            Arbitraries.of(0.0, -1.0, 0.5, 1e300, 7.0).map(JSON::numberNode),
            Arbitraries.of(0L, 1L, -1L, Long.MAX_VALUE).map(JSON::numberNode),
            Arbitraries.of(true, false).map(JSON::booleanNode),
            Arbitraries.just(JSON.nullNode()));
    if (depth == 0) {
      return plain;
    }
    Arbitrary<JsonNode> inner = value(depth - 1);
    return Arbitraries.frequencyOf(
        Tuple.of(3, plain),
        Tuple.of(1, object(inner)),
        Tuple.of(
            1,
            inner
                .list()
                .ofMaxSize(3)
                .map(
                    items -> {
                      ArrayNode array = JSON.arrayNode();
                      items.forEach(array::add);
                      return array;
                    })));
  }

  @Property(tries = 2000)
  void anyBodyIsReadOrIsTheClientsError(@ForAll("bodies") ObjectNode body) {
    try {
      ResponseRequest request =
          ResponseRequest.of(JsonObject.of(body, "the body"), 1, "the-model", true, false);
      String kept = request.settings().encoded();
      assertThat(ResponseSettings.decoded(kept, 2, "x")).isEqualTo(request.settings());
    } catch (InvalidInputException e) {
      assertThat(e.getMessage()).isNotBlank();
    } catch (ApiException e) {
      assertThat(e.status()).isBetween(400, 499);
    }
  }

  @Property
  void whateverAnotherClientKeptWithItsTurnIsRead(@ForAll String kept) throws Exception {
    ResponseSettings settings = ResponseSettings.decoded(kept, 1, "the-model");
    assertThat(new ObjectMapper().readTree(settings.encoded()).isObject()).isTrue();
  }
}
