package io.radixflow.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SpecVersion;
import io.radixflow.gateway.console.ConsolePages;
import io.radixflow.gateway.http.Routes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class OpenApiTest {

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  @Test
  void theDocumentHasEveryRouteAndEveryOperationHasARoute() {
    Routes pages = new Routes();
    new ConsolePages().addTo(pages);
    Set<String> served = names(gateway.gateway().routes());
    served.removeAll(names(pages));
    assertThat(Contract.operations()).isEqualTo(served);
  }

  /** A parameter that takes the rest of a path is one like all others in the document. */
  private static Set<String> names(Routes routes) {
    return routes.names().stream()
        .map(name -> name.replace("*}", "}"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void theDocumentIsServed() {
    JsonNode served = GatewayFixture.json(gateway.send(gateway.get("/openapi.json")).join().body());
    assertThat(served).isEqualTo(Contract.document());
  }

  @Test
  void everySchemaIsOneOfJsonSchema() {
    JsonSchema meta =
        JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012)
            .getSchema(SchemaLocation.of("https://json-schema.org/draft/2020-12/schema"));
    Contract.components()
        .forEach((name, schema) -> assertThat(meta.validate(schema)).as(name).isEmpty());
  }

  @Test
  void everyReferenceHasItsTargetAndEveryComponentIsUsed() {
    List<String> references = new ArrayList<>();
    references(Contract.document(), references);
    for (String reference : references) {
      assertThat(Contract.document().at(reference.substring(1)).isMissingNode())
          .as(reference)
          .isFalse();
    }
    for (String kind : List.of("schemas", "parameters", "headers", "responses")) {
      Contract.document()
          .at("/components/" + kind)
          .fieldNames()
          .forEachRemaining(
              name -> assertThat(references).contains("#/components/" + kind + "/" + name));
    }
  }

  private static void references(JsonNode node, List<String> into) {
    if (node.path("$ref").isTextual()) {
      into.add(node.get("$ref").textValue());
    }
    node.forEach(child -> references(child, into));
  }

  @Test
  void anAnswerWithAFieldTooManyOrTooFewBreaksTheContract() {
    Contract.Answer health = Contract.get().answer("GET", "/health", 200, "application/json");
    assertThat(health.body("{\"status\":\"ok\"}")).isEmpty();
    assertThat(health.body("{\"status\":\"ok\",\"more\":1}")).isNotEmpty();
    assertThat(health.body("{}")).isNotEmpty();
    Contract.Answer chat =
        Contract.get().answer("POST", "/v1/chat/completions", 200, "text/event-stream");
    assertThat(chat.event("[DONE]")).isEmpty();
    assertThat(chat.event("{\"object\":\"chat.completion.chunk\"}")).isNotEmpty();
    assertThat(chat.event("{\"error\":{\"message\":\"m\",\"type\":\"t\"}}")).isNotEmpty();
  }
}
