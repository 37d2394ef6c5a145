package io.radixflow.gateway;

import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Routes;
import io.vertx.core.http.HttpMethod;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** {@code GET /openapi.json}: the description of all endpoints, for programs. */
final class OpenApiPage implements EndpointGroup {

  private final byte[] document;

  OpenApiPage() {
    try (InputStream resource = OpenApiPage.class.getResourceAsStream("/openapi/openapi.json")) {
      document = resource.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException("reading a resource failed", e);
    }
  }

  @Override
  public void addTo(Routes routes) {
    routes.addOpen(HttpMethod.GET, "/openapi.json", this::send);
  }

  private void send(Exchange exchange) {
    exchange.json(200, document);
  }
}
